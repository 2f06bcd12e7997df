"""`vocboard migrate`: bring the database to the newest migration."""

import argparse

from vocboard.app.settings import Settings
from vocboard.migrations import upgrade


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command; the database is that of the environment."""
    parser.description = "Bring the database (VOCBOARD_DATABASE_URL) to the newest migration. Safe to repeat."


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001  # every command has the same shape
    """Run the migrations that are missing."""
    upgrade(Settings().database)
    return 0
