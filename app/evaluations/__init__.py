"""Evaluations: the scores of submissions, immutable once stored."""
