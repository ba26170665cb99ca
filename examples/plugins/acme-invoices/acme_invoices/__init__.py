"""A worked example of a plug-in for Steward."""
