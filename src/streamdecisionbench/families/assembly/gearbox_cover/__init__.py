"""Assembly A: a gearbox cover is put on, screwed down and inspected."""
