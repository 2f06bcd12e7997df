"""Fixtures of tests of exports and imports."""

from tests.support.backstage import backstage

__all__ = ["backstage"]
