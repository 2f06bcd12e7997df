"""Users, their sessions and their tokens."""
