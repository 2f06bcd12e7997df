"""Challenges, their competitions and the versions of their ground truth."""
