"""Whole challenges as one archive: exported from one server, imported by another."""
