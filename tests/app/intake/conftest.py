"""Fixtures of tests of submissions."""

from tests.support.backend import backend

__all__ = ["backend"]
