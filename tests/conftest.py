"""Fixtures for the whole suite; each is described where it is defined."""

import os

# As in vocboard's own processes, before anything imports numpy: test processes share the processors, and the threads of
# matrix products would spin while they wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

pytest_plugins = [
    "tests.support.collector",
    "tests.support.order",
    "tests.support.tiers",
    "tests.support.run_files",
    "tests.support.services",
    "tests.support.s3_server",
    "tests.support.databases",
    "tests.support.backend",
    "tests.support.clock",
    "tests.support.other_server",
    "tests.support.filled_databases",
]

# How long one generated case takes says how busy the machine is. Tests of speed measure it themselves.
settings.register_profile("vocboard", parent=settings(), deadline=None)
settings.load_profile("vocboard")
settings.register_profile("first tier", max_examples=25)  # tests.support.tiers loads it


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Return the name of what runs asynchronous tests."""
    return "asyncio"
