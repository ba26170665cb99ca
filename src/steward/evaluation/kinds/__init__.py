"""Kinds of cases, one file each."""
