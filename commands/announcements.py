"""`vocboard announcements`: what the organisers of a challenge announce."""

import argparse
from typing import Any

from vocboard.client.answers import understood
from vocboard.client.connection import Connection
from vocboard.client.messages import announcement
from vocboard.client.paging import items
from vocboard.client.paths import path
from vocboard.client.terminal import instant, printable
from vocboard.commands.subcommands import add_action, add_actions, run_action, text_of

run = run_action


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = add_actions(parser)
    listed = add_action(actions, "list", _list, "list announcements, the latest first", show=_print)
    add = add_action(actions, "add", _add, "announce something, as an organiser")
    for each in (listed, add):
        each.add_argument("challenge", metavar="CHALLENGE", help="short name of the challenge")
    add.add_argument("title", metavar="TITLE", help="one line")
    add.add_argument("text", metavar="TEXT", help="Markdown; - reads it from standard input")
    add.add_argument("--email", action="store_true", help="notify everyone who has submitted, also by email")


def _list(connection: Connection, arguments: argparse.Namespace) -> Any:
    return list(items(connection, path("challenges", arguments.challenge, "announcements")))


def _add(connection: Connection, arguments: argparse.Namespace) -> Any:
    body = {"title": arguments.title, "text": text_of(arguments.text), "email": arguments.email}
    return connection.post(path("challenges", arguments.challenge, "announcements"), body)


def _print(answer: Any) -> None:
    for number, item in enumerate(answer):
        found = understood(announcement, item)
        print(f"{chr(10) if number else ''}{instant(found.created_at)}  {printable(found.title)}")
        for line in found.text.split("\n"):
            print(f"  {printable(line)}".rstrip())
