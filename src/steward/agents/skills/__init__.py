"""Skills: instructions with references and scripts, found in three stages, versioned per project."""
