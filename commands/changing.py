"""Shared code of `vocboard publish`, `unpublish` and `withdraw`."""

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from vocboard.client.answers import submission, understood
from vocboard.client.errors import MisuseError
from vocboard.client.paths import path
from vocboard.client.terminal import printable
from vocboard.commands.connecting import add_online_arguments, connect
from vocboard.commands.names import submission_id
from vocboard.commands.reporting import DONE, print_json, say


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that all of them have."""
    parser.add_argument(
        "submission", metavar="SUBMISSION", help="submission identifier, or its beginning; see `vocboard status`"
    )
    add_online_arguments(parser)


def add_competition_argument(parser: argparse.ArgumentParser, help_text: str) -> None:
    """Add the option that names competitions."""
    parser.add_argument("--competition", action="append", metavar="KEY", help=f"{help_text}; may be repeated")


def change(arguments: argparse.Namespace, what: str, done: str, body: Mapping[str, Any] | None = None) -> int:
    """Send a change of a submission, and print what has become of it.

    Args:
        body: what is sent with the request.
        what: the last part of its address in the API.
        done: the change in words, after "is".

    Raises:
        ClientError: see `client.errors`.
    """
    with connect(arguments.server) as connection:
        identifier = submission_id(connection, arguments.submission)
        answer = connection.post(path("submissions", identifier, what), body)
    changed = understood(submission, answer)
    if arguments.json:
        print_json(answer)
    else:
        print(f"{printable(changed.method)} ({printable(changed.id)}) is {done}.")
        if changed.published_at is not None and (page := method_page(answer, connection.address)) is not None:
            print(f"Its page, with BibTeX to cite it: {page}")
    return DONE


def method_page(answer: Any, server: str) -> str | None:
    """Return the permanent address of a submission's method; None if the answer has no method.

    Args:
        answer: the submission, as the server describes it.
        server: its address.
    """
    method = answer.get("method") if isinstance(answer, Mapping) else None
    return f"{server}/methods/{printable(str(method['id']))}" if method else None


def require_confirmation(arguments: argparse.Namespace, question: str) -> None:
    """Ask in a terminal before a change that cannot be undone.

    Raises:
        MisuseError: the answer is no, or nobody can be asked and there is no --yes.
    """
    if arguments.yes:
        return
    if not sys.stdin.isatty():
        raise MisuseError("this cannot be undone; confirm it with --yes")
    say(question)
    try:
        answer = input("Type yes to go on: ")
    except EOFError:
        answer = ""
    if answer.strip().lower() != "yes":
        raise MisuseError("nothing was changed")
