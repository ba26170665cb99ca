"""What was done and found, in words and figures that the results support."""
