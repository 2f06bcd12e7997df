"""Fixtures of tests of evaluations."""

from tests.support.backend import backend

__all__ = ["backend"]
