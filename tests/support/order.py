"""The order in which several processes take test files: those of long tests first, so that all end at the same time."""

import pytest

LONG = ("attack", "benchmarks", "browser", "deployment", "test_migrations.py", "worker")
_FIRST = tuple(f"tests/{name}" for name in LONG)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Move files of long tests to the front, in the processes of pytest-xdist; one process keeps the usual order."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: not item.nodeid.startswith(_FIRST))
