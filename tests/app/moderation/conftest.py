"""Fixtures of tests of moderation."""

from tests.support.backstage import backstage

__all__ = ["backstage"]
