"""Fixtures of tests of submissions."""

from tests.support.backstage import backstage

__all__ = ["backstage"]
