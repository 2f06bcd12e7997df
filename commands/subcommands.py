"""Shared code of commands with actions, such as `vocboard teams show`."""

import argparse
import sys
from collections.abc import Callable
from typing import Any

from vocboard.client.connection import Connection
from vocboard.client.errors import MisdirectedError
from vocboard.commands.connecting import add_online_arguments, connect
from vocboard.commands.names import wrong_name
from vocboard.commands.reporting import DONE, print_json, say

STANDARD_INPUT = "-"

Do = Callable[[Connection, argparse.Namespace], Any]
Actions = Any  # of argparse, which does not name its type
Print = Callable[[Any], None]


def add_actions(parser: argparse.ArgumentParser) -> Actions:
    """Let a command have actions."""
    return parser.add_subparsers(dest="action", metavar="ACTION", required=True)


def add_action(
    actions: Actions, name: str, do: Do, help_text: str, *, show: Print | None = None
) -> argparse.ArgumentParser:
    """Add an action, with the options --json and --server.

    Args:
        do: asks the server, and returns the answer.
        show: prints the answer without --json; None if there is nothing to show.
    """
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}."
    )
    add_online_arguments(parser)
    parser.set_defaults(do=do, show=show)
    return parser


def text_of(typed: str) -> str:
    """Return a text that was typed, or standard input for `-`."""
    return sys.stdin.read().rstrip("\n") if typed == STANDARD_INPUT else typed


def run_action(arguments: argparse.Namespace) -> int:
    """Run the action that was chosen."""
    with connect(arguments.server) as connection:
        try:
            answer = arguments.do(connection, arguments)
        except MisdirectedError as error:
            challenge = getattr(arguments, "challenge", None)
            raise (error if challenge is None else wrong_name(connection, error, challenge)) from error
    if arguments.json:
        print_json(answer)
    elif answer == []:
        say("there is nothing to list")
    elif arguments.show is not None:
        arguments.show(answer)
    return DONE
