"""Python's garbage collector during a run: it leaves alone what a process keeps to its end anyway.

A process holds thousands of tests, their modules and all packages. Every full collection would look through all of
them, which takes half a second; there is one in about five seconds of processor time.
"""

import gc
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while pytest collects tests, and exempt what is there then."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
