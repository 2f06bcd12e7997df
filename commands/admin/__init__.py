"""`vocboard admin`: operators manage users, tokens, challenges and ground truth, directly in the database."""

import argparse
import errno
import sys

from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, OperationalError

from vocboard.app.database import Database
from vocboard.app.errors import InvalidInputError, ServiceError
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.settings import Settings
from vocboard.app.storage.local_files import StoreUnavailableError
from vocboard.commands.admin import (
    backups,
    challenges,
    doctor,
    files,
    moderation,
    people,
    phases,
    rescores,
    server,
    transfer,
)
from vocboard.commands.admin.actions import WHERE_TO_RUN, Call, operator
from vocboard.migrations import is_missing, require_newest

INSUFFICIENT_PRIVILEGE = "42501"  # SQLSTATE
_NOT_HERE = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EROFS)  # as in a service without the volume
WITHOUT_DATABASE = {"make-backup-key", "list-backups", "restore", "check-edition", "compare-images"}
MODULES = (
    people,
    challenges,
    phases,
    rescores,
    files,
    moderation,
    transfer,
    server,
    doctor,
    backups,
)  # in the order of the help


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    parser.description = (
        "Manage users, tokens, challenges and ground truth of the installation that the environment configures."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for module in MODULES:
        module.ACTIONS.configure(actions)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action."""
    settings = Settings()
    if is_missing(settings.database) and arguments.action not in WITHOUT_DATABASE:
        require_newest(settings.database)  # says what to do
    database = Database(settings.database, operator=operator(), wake=lambda kinds: WorkerNotifier(settings).wake(kinds))
    try:
        outcome = arguments.do(Call(arguments, database, settings))
        if isinstance(outcome, str) and outcome:  # a list may be empty
            print(outcome)
        return outcome if isinstance(outcome, int) else 0
    except InvalidInputError as error:
        for field, message in error.fields.items():
            print(f"vocboard admin: {field}: {message}", file=sys.stderr)
    except ServiceError as error:
        print(f"vocboard admin: {error}", file=sys.stderr)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == INSUFFICIENT_PRIVILEGE:
            said = f"the database refuses this to the role of this service. {WHERE_TO_RUN}"
        else:
            require_newest(settings.database)  # says what to do about tables that are missing
            if not isinstance(error, OperationalError):
                raise
            shown = make_url(settings.database).render_as_string(hide_password=True)
            said = f"the database {shown} cannot be used: {error.orig}"
        print(f"vocboard admin: {said}", file=sys.stderr)
    except OSError as error:
        if error.filename is None and isinstance(error, (BrokenPipeError, StoreUnavailableError)):
            raise  # see `commands.main`
        said = str(error.strerror or error) if error.filename is None else f"{error.filename}: {error.strerror}"
        where = f" {WHERE_TO_RUN}" if error.errno in _NOT_HERE else ""
        print(f"vocboard admin: {said}.{where}", file=sys.stderr)
    finally:
        database.close()
    return 1
