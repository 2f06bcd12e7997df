"""Faults of all kinds under load; see `__main__` for what is run and counted."""
