"""Fixtures of tests of exports and imports."""

from tests.support.backend import backend

__all__ = ["backend"]
