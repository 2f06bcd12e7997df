"""Fixtures of tests of leaderboards."""

from tests.support.backstage import backstage

__all__ = ["backstage"]
