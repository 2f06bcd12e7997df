"""Fixtures for the whole suite; each is described where it is defined."""

pytest_plugins = ["tests.support.browser", "tests.support.services", "tests.support.databases"]
