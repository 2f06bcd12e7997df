"""`vocboard migrate`: migrate the database to the current schema."""

import argparse

from vocboard.app import logs
from vocboard.app.settings import Settings
from vocboard.migrations import upgrade


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command; the environment names the database."""
    parser.description = "Migrate the database (VOCBOARD_DATABASE_URL) to the current schema. Safe to repeat."


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001  # all commands have the same signature
    """Run the missing migrations."""
    settings = Settings()
    logs.configure(settings.log_format)
    upgrade(settings.database)
    return 0
