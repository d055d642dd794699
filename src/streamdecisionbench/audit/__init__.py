"""Whether the references can be trusted, from the blind reading to its record."""
