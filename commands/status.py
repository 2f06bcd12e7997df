"""`vocboard status`: show the state of submissions."""

import argparse

from vocboard.client.answers import submission, submission_details, understood
from vocboard.client.connection import Connection
from vocboard.client.errors import MisuseError
from vocboard.client.paging import items
from vocboard.client.paths import path
from vocboard.commands.connecting import add_online_arguments, connect
from vocboard.commands.names import submission_id
from vocboard.commands.reporting import DONE, print_json
from vocboard.commands.submissions import described, exit_status, followed, listed

LISTED = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "submission",
        nargs="?",
        metavar="SUBMISSION",
        help="submission identifier, or its beginning; without it, list your submissions",
    )
    parser.add_argument("--all", action="store_true", help=f"list all your submissions, not only the latest {LISTED}")
    parser.add_argument("--wait", action="store_true", help="wait until the submission is scored or has failed")
    add_online_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """List one's submissions, or show one."""
    if arguments.submission is None and arguments.wait:
        raise MisuseError("--wait needs a submission; `vocboard status` lists them")
    if arguments.submission is not None:
        with connect(arguments.server, as_visitor=True) as connection:
            return _show(connection, arguments)
    with connect(arguments.server) as connection:
        return _list(connection, arguments)


def _show(connection: Connection, arguments: argparse.Namespace) -> int:
    identifier = submission_id(connection, arguments.submission)
    ended = followed(connection, identifier) if arguments.wait else None
    answer = connection.get(path("submissions", identifier))
    if arguments.json:
        print_json(answer)
    else:
        print(described(understood(submission_details, answer)))
    return DONE if ended is None else exit_status(ended)


def _list(connection: Connection, arguments: argparse.Namespace) -> int:
    if arguments.all:
        found = list(items(connection, "/submissions"))
        total = len(found)
    else:
        answer = connection.get("/submissions", {"per_page": LISTED})
        found, total = understood(lambda page: (list(page["items"]), int(page["total"])), answer)
    if arguments.json:
        print_json({"items": found, "total": total})
        return DONE
    if not found:
        print("No submissions yet.")
        return DONE
    print(listed([understood(submission, item) for item in found]))
    if len(found) < total:
        print(f"\nThe latest {len(found)} of {total}; use `vocboard status --all` to list all.")
    return DONE
