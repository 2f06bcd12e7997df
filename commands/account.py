"""`vocboard account`: change your name or affiliation, and download what a server stores about you."""

import argparse
from typing import Any

from vocboard.client.connection import Connection
from vocboard.client.errors import MisuseError
from vocboard.commands.reporting import print_json
from vocboard.commands.subcommands import add_action, add_actions, run_action

run = run_action


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = add_actions(parser)
    change = add_action(actions, "change", _change, "change your name or affiliation; submissions keep theirs")
    change.add_argument("--name", metavar="NAME", help="your name")
    change.add_argument("--affiliation", metavar="TEXT", help="your affiliation; an empty text removes it")
    add_action(actions, "export", _export, "print what the server stores about you, as JSON", show=print_json)


def _change(connection: Connection, arguments: argparse.Namespace) -> Any:
    changes = {name: given for name in ("name", "affiliation") if (given := getattr(arguments, name)) is not None}
    if not changes:
        raise MisuseError("say what to change: --name, --affiliation; the rest is on the server's Account page")
    return connection.patch("/account", changes)


def _export(connection: Connection, _: argparse.Namespace) -> Any:
    return connection.get("/account/export")
