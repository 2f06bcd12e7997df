"""People, their sessions and their tokens."""
