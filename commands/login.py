"""`vocboard login`: store the API token for a server."""

import argparse
import getpass
import os
import sys

from vocboard.client import credentials
from vocboard.client.answers import Person, person, understood
from vocboard.client.connection import Connection
from vocboard.client.credentials import SERVER_VARIABLE, TOKEN_VARIABLE, chosen_server
from vocboard.client.errors import MisuseError, RefusedError, UnexpectedAnswerError
from vocboard.client.terminal import printable
from vocboard.commands.connecting import warn_of_dangers
from vocboard.commands.reporting import DONE, FAILED, say


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "server",
        nargs="?",
        metavar="URL",
        help=f"server address (default: ${SERVER_VARIABLE}, or the server of the last login)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--token",
        help=f"API token from the Account page; other users of this machine may see it in the process list, so prefer "
        f"${TOKEN_VARIABLE}, the prompt or standard input",
    )
    what.add_argument("--forget", action="store_true", help="delete the stored token instead")


def run(arguments: argparse.Namespace) -> int:
    """Verify a token with the server and store it, or delete the stored one."""
    stored = credentials.load()
    address = chosen_server(arguments.server, stored)
    if arguments.forget:
        if address not in stored.tokens:
            raise MisuseError(f"no token is stored for {address}")
        credentials.save(stored.without_server(address))
        print(
            f"Deleted the stored token for {address}. The token is still valid; to revoke it, use the server's "
            f"Account page."
        )
        return DONE
    warn_of_dangers(address)
    _check_that_it_is_a_vocboard(address)
    token = credentials.checked_token(_given_token(arguments.token, address))
    try:
        with Connection(address, token) as connection:
            owner = understood(person, connection.get("/me"))
    except RefusedError as error:
        if error.status != 401:
            raise
        say(f"{address} does not accept this token; copy it again, or create a new one on the Account page")
        return FAILED
    # Read again: another process may have logged in to another server in the meantime.
    file = credentials.save(credentials.load().with_server(address, token))
    print(_login_message(owner, address))
    print(f"The token is stored in {file}")
    return DONE


def _check_that_it_is_a_vocboard(address: str) -> None:
    """Make a public request first, so that the token is only sent to a vocboard server.

    Raises:
        UnexpectedAnswerError: the server is not a vocboard server.
    """
    with Connection(address, None) as connection:
        answer = connection.get("/challenges", {"per_page": 1})
    if not isinstance(answer, dict) or "items" not in answer:
        raise UnexpectedAnswerError(f"{address} is not a vocboard server; check the address")


def _given_token(argument: str | None, address: str) -> str:
    given = argument or os.environ.get(TOKEN_VARIABLE)
    if given:
        return given
    if not sys.stdin.isatty():
        return sys.stdin.readline()
    try:
        return getpass.getpass(f"API token for {address} (create one on the Account page; input is hidden): ")
    except EOFError:
        return ""


def _login_message(owner: Person, address: str) -> str:
    welcome = f"Logged in to {address} as {printable(owner.email)}."
    if "submit" not in owner.scopes:
        scopes = ", ".join(map(printable, owner.scopes)) or "nothing"
        welcome += f" This token has the scopes: {scopes}; to submit results, create one with the scope `submit`."
    return welcome
