"""Node types, one file each; a new file here is a new node type."""
