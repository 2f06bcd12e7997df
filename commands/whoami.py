"""`vocboard whoami`: show whose token is used, and what it permits."""

import argparse

from vocboard.client.answers import person, understood
from vocboard.client.terminal import printable
from vocboard.commands.connecting import add_online_arguments, connect
from vocboard.commands.reporting import DONE, print_json


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_online_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the owner of the token, the server, and the token's scopes."""
    with connect(arguments.server) as connection:
        answer = connection.get("/me")
        owner = understood(person, answer)
        if arguments.json:
            print_json({"server": connection.address, **answer})
        else:
            scopes = ", ".join(map(printable, owner.scopes)) or "nothing"
            print(f"{printable(owner.email)} at {connection.address}; the token permits: {scopes}")
    return DONE
