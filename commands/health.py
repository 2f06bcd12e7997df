"""`vocboard health`: health check of a worker or of beat on this machine or in this container."""

import argparse
import socket
import sys


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = "Check whether a worker or beat is alive, and print one line. Exit status: 0 alive, 1 not."
    services = parser.add_subparsers(dest="service", metavar="SERVICE", required=True)
    worker = services.add_parser("worker", help="check that a worker of this machine or container looks for work")
    worker.add_argument("--only", metavar="KIND", default="scoring", help="kind of worker (default: %(default)s)")
    services.add_parser("beat", help="check that beat of this machine or container reaches the broker")


def run(arguments: argparse.Namespace) -> int:
    """Run the check."""
    return _beat() if arguments.service == "beat" else _worker(arguments.only)


def _worker(kind: str) -> int:
    # Imported here: participants' commands must start without the server's packages.
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415

    from vocboard.app.database import Database, server_time  # noqa: PLC0415
    from vocboard.app.jobs import heartbeats  # noqa: PLC0415
    from vocboard.app.settings import Settings  # noqa: PLC0415

    database = Database(Settings().database)
    try:
        with database.reading_autocommit() as session:
            last = heartbeats.last_polls(session, host=socket.gethostname()).get(kind)
            seconds = None if last is None else (server_time(session) - last).total_seconds()
    except DBAPIError as error:
        return _say(f"cannot read from the database when the worker last looked for work: {error.orig}")
    finally:
        database.close()
    return _check("the worker last looked for work", seconds, limit=heartbeats.SILENT_AFTER.total_seconds())


def _beat() -> int:
    from vocboard.app.settings import Settings  # noqa: PLC0415
    from vocboard.worker.beat import MISSED_AFTER, seconds_since_last  # noqa: PLC0415

    limit = MISSED_AFTER * Settings().sweep_interval.total_seconds()
    return _check("beat last reached the broker", seconds_since_last(), limit=limit)


def _check(what: str, seconds: float | None, *, limit: float) -> int:
    if seconds is None:
        return _say(f"{what}: never")
    message = f"{what} {seconds:.0f} s ago"
    if seconds > limit:
        return _say(f"{message}; the limit is {limit:.0f} s")
    print(message)
    return 0


def _say(problem: str) -> int:
    print(" ".join(problem.split()), file=sys.stderr)
    return 1
