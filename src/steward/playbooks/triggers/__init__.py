"""The triggers that Steward brings along, one file each."""
