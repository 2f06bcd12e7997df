"""Fixtures of the worker's tests."""

from tests.support.backend import backend

__all__ = ["backend"]
