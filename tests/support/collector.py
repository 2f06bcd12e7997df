"""Python's garbage collector during a run: it leaves alone what a process keeps to its end anyway.

A process holds thousands of tests, their modules and all packages. Every full collection would look through all of
them, which takes half a second; there is one in about five seconds of processor time.
"""

import gc

import pytest


def pytest_sessionstart() -> None:
    """Collect no garbage while pytest collects tests."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exempt what is there now, and collect what comes."""
    gc.freeze()
    gc.enable()
