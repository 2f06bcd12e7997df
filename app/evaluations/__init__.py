"""Evaluations: the scores of submissions. They are immutable."""
