"""`vocboard admin`: operators manage users, tokens, challenges and ground truth, directly in the database."""

import argparse
import os
import pwd
import socket
import sys

from sqlalchemy.exc import ProgrammingError

from vocboard.app.database import Database
from vocboard.app.errors import InvalidInputError, ServiceError
from vocboard.app.settings import Settings
from vocboard.commands.admin import (
    challenges,
    editions,
    images,
    moderation,
    people,
    phases,
    pruning,
    rescores,
    transfer,
)
from vocboard.commands.admin.actions import WHERE_TO_RUN

INSUFFICIENT_PRIVILEGE = "42501"  # SQLSTATE


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    parser.description = (
        "Manage users, tokens, challenges and ground truth of the installation that the environment configures."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    people.configure(actions)
    challenges.configure(actions)
    phases.configure(actions)
    rescores.configure(actions)
    editions.configure(actions)
    images.configure(actions)
    pruning.configure(actions)
    moderation.configure(actions)
    transfer.configure(actions)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action."""
    settings = Settings()
    database = Database(settings.database, operator=operator())
    try:
        return int(arguments.do(arguments, database, settings))
    except InvalidInputError as error:
        for field, message in error.fields.items():
            print(f"vocboard admin: {field}: {message}", file=sys.stderr)
    except ServiceError as error:
        print(f"vocboard admin: {error}", file=sys.stderr)
    except ProgrammingError as error:
        if getattr(error.orig, "sqlstate", None) != INSUFFICIENT_PRIVILEGE:
            raise
        print(f"vocboard admin: the database refuses this to the role of this service. {WHERE_TO_RUN}", file=sys.stderr)
    finally:
        database.close()
    return 1


def operator() -> str:
    """Return the actor for the audit log: the system user (not $USER) and the host."""
    user = os.getuid()
    try:
        name = pwd.getpwuid(user).pw_name
    except KeyError:  # a container may run as a user that has no name
        name = f"uid {user}"
    return f"{name}@{socket.gethostname()}, command line"
