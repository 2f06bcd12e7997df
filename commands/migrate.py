"""`vocboard migrate`: migrate the database to the current schema."""

import argparse
import sys

from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from vocboard.app.settings import Settings
from vocboard.migrations import upgrade


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command; the environment names the database."""
    parser.description = "Migrate the database (VOCBOARD_DATABASE_URL) to the current schema. Safe to repeat."


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001  # all commands have the same signature
    """Run the missing migrations."""
    database = Settings().database
    try:
        upgrade(database)
    except OperationalError as error:
        if error.statement is not None:  # there is a connection
            raise
        shown = make_url(database).render_as_string(hide_password=True)
        print(f"vocboard migrate: the database {shown} cannot be used: {error.orig}", file=sys.stderr)
        return 1
    return 0
