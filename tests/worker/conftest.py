"""Fixtures of the worker's tests."""

from tests.support.backstage import backstage

__all__ = ["backstage"]
