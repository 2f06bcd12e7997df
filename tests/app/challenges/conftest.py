"""Fixtures of tests of challenges."""

from tests.support.backstage import backstage

__all__ = ["backstage"]
