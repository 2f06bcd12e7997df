"""What the commands that talk to a server share: which server, which token, and how trouble becomes an exit status.

Exit statuses: 0 done; 1 the archive has problems, or there is no score; 2 the command cannot be done as it was given;
3 trouble with the server or on the way to it.
"""

import argparse
import functools
import json
import sys
from collections.abc import Callable
from typing import Any

from vocboard.client import credentials
from vocboard.client.address import can_be_overheard
from vocboard.client.connection import Connection
from vocboard.client.credentials import SERVER_VARIABLE, chosen_server, chosen_token
from vocboard.client.errors import ClientError, MisuseError

DONE, PROBLEMS, MISUSE, FAILED = 0, 1, 2, 3
INTERRUPTED = 130  # as shells have it for SIGINT

Run = Callable[[argparse.Namespace], int]


def add_server_argument(parser: argparse.ArgumentParser) -> None:
    """Let a command be told which server it talks to."""
    parser.add_argument(
        "--server",
        metavar="URL",
        help=f"address of the server (default: ${SERVER_VARIABLE}, or the one last logged in to)",
    )


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Let a command print the server's answer as JSON."""
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def connect(server: str | None, *, as_visitor: bool = False) -> Connection:
    """Return a connection in this person's name.

    The token is that of the environment, or else the one stored for the server.

    Args:
        server: what the command line says.
        as_visitor: whether having no token is good enough.

    Raises:
        MisuseError: no server is known, or no token for it.
    """
    stored = credentials.load()
    address = chosen_server(server, stored)
    token = chosen_token(address, stored)
    if token is None and not as_visitor:
        raise MisuseError(f"not logged in to {address}; run `vocboard login {address}`")
    if token is not None:
        warn_of_dangers(address)
    return Connection(address, token)


def warn_of_dangers(address: str) -> None:
    """Say on standard error if others can get at the token."""
    if can_be_overheard(address):
        say(f"warning: {address} is not encrypted; whoever is on the way can read the token. Use https.")
    file = credentials.directory() / credentials.FILE_NAME
    if credentials.readable_by_others(file):
        say(f"warning: other people of this machine can read your tokens; run `chmod 600 {file}`")


def say(text: str) -> None:
    """Tell the person something that is not the command's result."""
    print(f"vocboard: {text}", file=sys.stderr)


def print_json(content: Any) -> None:
    """Print a JSON document; in ASCII, so that no text of others can steer a terminal."""
    print(json.dumps(content, indent=2))


def reporting_errors(run: Run) -> Run:
    """Make a command tell its trouble in one line on standard error, and return the exit status that fits."""

    @functools.wraps(run)
    def reporting(arguments: argparse.Namespace) -> int:
        try:
            return run(arguments)
        except MisuseError as error:
            say(str(error))
            return MISUSE
        except ClientError as error:
            say(str(error))
            return FAILED
        except KeyboardInterrupt:
            say("interrupted")
            return INTERRUPTED

    return reporting
