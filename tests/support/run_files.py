"""Files that one run of the tests makes once, however many processes it has."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

_DIRECTORY = "VOCBOARD_TEST_RUN"  # in the environment, which pytest-xdist's processes inherit


def pytest_configure(config: pytest.Config) -> None:
    """Make the run's directory, in the process that starts the others."""
    if not hasattr(config, "workerinput"):
        os.environ[_DIRECTORY] = tempfile.mkdtemp(prefix="vocboard-run-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove it."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(_DIRECTORY), ignore_errors=True)


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """Return a file or directory of this run, which must not be changed.

    Args:
        name: the same for all that share it.
        make: writes it to a path; the first process that asks for it does so, and others wait.
    """
    target = Path(os.environ[_DIRECTORY]) / name
    with target.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            partial = target.with_name(f"{name}.partial")
            make(partial)
            partial.rename(target)
    return target
