"""Regular expressions of the product: proven to take time in proportion to the text, or refused."""
