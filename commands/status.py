"""`vocboard status`: show the state of submissions."""

import argparse

from vocboard.client.answers import submission, submission_details, understood
from vocboard.client.connection import Connection
from vocboard.client.errors import MisuseError
from vocboard.client.paths import path
from vocboard.commands.connecting import add_online_arguments, connect
from vocboard.commands.names import submission_id
from vocboard.commands.reporting import DONE, print_json
from vocboard.commands.submissions import described, exit_status, followed, listed

LISTED = 20
PER_PAGE = 200  # the maximum that servers allow


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
    answer = connection.get("/submissions", {"page": 1, "per_page": PER_PAGE if arguments.all else LISTED})
    items, total = understood(lambda page: (list(page["items"]), int(page["total"])), answer)
    page = 1
    while arguments.all and len(items) < total:
        page += 1
        more = understood(
            lambda answer: list(answer["items"]), connection.get("/submissions", {"page": page, "per_page": PER_PAGE})
        )
        if not more:  # some were deleted in the meantime
            break
        items += more
    if arguments.json:
        print_json({"items": items, "total": total})
        return DONE
    if not items:
        print("No submissions yet.")
        return DONE
    print(listed([understood(submission, item) for item in items]))
    if len(items) < total:
        print(f"\nThe latest {len(items)} of {total}; use `vocboard status --all` to list all.")
    return DONE
