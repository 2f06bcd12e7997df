"""Fixtures of tests of moderation."""

from tests.support.backend import backend

__all__ = ["backend"]
