"""Ready agents, one YAML document each."""
