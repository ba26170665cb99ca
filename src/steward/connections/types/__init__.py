"""The kinds of connections, one file each; a package adds more through the entry point group `steward.connector`."""
