"""`vocboard health`: health check of a worker on this machine or in this container."""

import argparse
import socket
import sys


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = "Check whether a worker is alive, and print one line. Exit status: 0 alive, 1 not."
    services = parser.add_subparsers(dest="service", metavar="SERVICE", required=True)
    worker = services.add_parser("worker", help="check that a worker of this machine or container looks for work")
    worker.add_argument("--only", metavar="KIND", default="scoring", help="kind of worker (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Run the check."""
    # Imported here: participants' commands must start without the server's packages.
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415

    from vocboard.app.database import Database, now  # noqa: PLC0415
    from vocboard.app.jobs import heartbeats  # noqa: PLC0415
    from vocboard.app.settings import Settings  # noqa: PLC0415

    database = Database(Settings().database)
    try:
        with database.reading_autocommit() as session:
            last = heartbeats.last_polls(session, host=socket.gethostname()).get(arguments.only)
    except DBAPIError as error:
        return _say(f"cannot read from the database when the worker last looked for work: {error.orig}")
    finally:
        database.close()
    if last is None:
        return _say("the worker last looked for work: never")
    message = f"the worker last looked for work {(now() - last).total_seconds():.0f} s ago"
    if now() - last > heartbeats.SILENT_AFTER:
        return _say(f"{message}; the limit is {heartbeats.SILENT_AFTER.total_seconds():.0f} s")
    print(message)
    return 0


def _say(problem: str) -> int:
    print(" ".join(problem.split()), file=sys.stderr)
    return 1
