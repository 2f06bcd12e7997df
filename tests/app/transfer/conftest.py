"""Fixtures of tests of exports and imports."""

from tests.support.backend import backend
from tests.support.clock import clock
from tests.support.other_server import other

__all__ = ["backend", "clock", "other"]
