"""Shared code of the commands that talk to a server: choice of server and token."""

import argparse

from vocboard.client import credentials
from vocboard.client.address import can_be_overheard
from vocboard.client.connection import Connection
from vocboard.client.credentials import SERVER_VARIABLE, chosen_server, chosen_token
from vocboard.client.errors import MisuseError
from vocboard.commands.reporting import say


def add_server_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option --server."""
    parser.add_argument(
        "--server",
        metavar="URL",
        help=f"server address (default: ${SERVER_VARIABLE}, or the server of the last login)",
    )


def add_online_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options --json and --server."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_server_argument(parser)


def connect(server: str | None, *, as_visitor: bool = False) -> Connection:
    """Return a connection to a server.

    The token is taken from the environment, or else from the stored credentials.

    Args:
        server: the value of --server.
        as_visitor: whether the command also works without a token.

    Raises:
        MisuseError: there is no server, or no token for it.
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
    """Warn on standard error if others can read the token."""
    if can_be_overheard(address):
        say(
            f"warning: the connection to {address} is not encrypted, and others on the network can read the token; "
            f"use https"
        )
    file = credentials.directory() / credentials.FILE_NAME
    if credentials.readable_by_others(file):
        say(f"warning: other users of this machine can read your tokens; run `chmod 600 {file}`")
