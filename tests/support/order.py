"""The order in which several processes take test files: those of long tests first, so that all end at the same time."""

import pytest

# Files of more than half a minute of processor time alone first, since a file is never divided.
LONG = (
    "browser/test_accessibility.py",
    "app/test_authorisation.py",
    "attack",
    "benchmarks",
    "browser",
    "deployment",
    "app/api/test_conformance.py",
    "app/test_detail_levels.py",
    "evaluator/examples",
    "hostile/test_folder.py",
    "test_filled_migrations.py",
    "test_migrations.py",
    "worker",
)
_FIRST = tuple(f"tests/{name}" for name in LONG)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Move files of long tests to the front, in the processes of pytest-xdist; one process keeps the usual order."""
    if hasattr(config, "workerinput"):
        items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    return next((place for place, name in enumerate(_FIRST) if item.nodeid.startswith(name)), len(_FIRST))
