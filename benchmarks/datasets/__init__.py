"""Synthetic test sets and results of realistic size, the same on every machine."""
