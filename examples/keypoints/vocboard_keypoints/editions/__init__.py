"""The edition file."""
