"""Directories: people and groups that an identity provider brings by SCIM 2.0."""
