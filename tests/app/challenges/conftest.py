"""Fixtures of tests of challenges."""

from tests.support.backend import backend

__all__ = ["backend"]
