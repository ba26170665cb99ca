"""Questions over tables: read by definitions, compared with what is planned, answered in a sentence, or put back to the person."""
