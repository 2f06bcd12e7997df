"""Fixtures for the whole suite; each is described where it is defined."""

from hypothesis import settings

pytest_plugins = [
    "tests.support.collector",
    "tests.support.order",
    "tests.support.run_files",
    "tests.support.browser",
    "tests.support.services",
    "tests.support.databases",
    "tests.support.filled_databases",
]

# How long one generated case takes says how busy the machine is. Tests of speed measure it themselves.
settings.register_profile("vocboard", parent=settings(), deadline=None)
settings.load_profile("vocboard")
