"""Two savings while pytest collects, which each of several processes does: garbage collection, and doctests.

The garbage collector leaves alone what a process keeps to its end anyway. A process holds thousands of tests, their
modules and all packages. Every full collection would look through all of them, which takes half a second; there is one
in about five seconds of processor time. What tests leave is collected less often than usual, too: most of it is not in
cycles.
"""

import gc
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

_THRESHOLDS = (10_000, 10, 10)  # of the three generations; the first is 700 by default
gc.disable()  # while pytest imports its plugins and collects tests


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt what is there once pytest has collected the tests, and collect garbage from then on."""
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*_THRESHOLDS)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests only in files that have some: looking through each object of all takes a second."""
    found = yield
    has_doctests = file_path.suffix != ".py" or ">>> " in file_path.read_text()
    return found if has_doctests else [each for each in found if not isinstance(each, DoctestModule)]
