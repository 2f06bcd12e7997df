"""Leaderboards: published methods, ranked."""
