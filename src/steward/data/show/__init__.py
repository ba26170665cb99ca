"""Showing data to people: charts, reports and files for spreadsheets.

Modules are imported by name (`steward.data.show.charts`, `.reports`, `.xlsx` …): nothing here is loaded before
somebody wants to see something.
"""
