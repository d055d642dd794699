"""The generation kit: from a seed to scenarios as strict as authored ones, for any family."""
