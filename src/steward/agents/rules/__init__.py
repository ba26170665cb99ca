"""Plans without a model: a request becomes calls of tools by its words, the names of the data, and its statistics."""
