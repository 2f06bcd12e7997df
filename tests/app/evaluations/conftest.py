"""Fixtures of tests of evaluations."""

from tests.support.backstage import backstage

__all__ = ["backstage"]
