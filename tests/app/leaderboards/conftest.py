"""Fixtures of tests of leaderboards."""

from tests.support.backend import backend

__all__ = ["backend"]
