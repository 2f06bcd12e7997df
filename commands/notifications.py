"""`vocboard notifications`: what you were told, and what of it you get by email."""

import argparse
from typing import Any

from vocboard.client.answers import understood
from vocboard.client.connection import Connection
from vocboard.client.messages import notification
from vocboard.client.paging import items
from vocboard.client.terminal import instant, printable
from vocboard.commands.subcommands import add_action, add_actions, run_action

run = run_action


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = add_actions(parser)
    listed = add_action(actions, "list", _list, "list what you were told, newest first; * is unread", show=_print)
    listed.add_argument("--unread", action="store_true", help="only what is unread")
    read = add_action(actions, "read", _read, "mark notifications as read")
    read.add_argument("notification", nargs="*", metavar="ID", help="ids of `list --json` (default: all)")
    emails = add_action(actions, "emails", _emails, "show or change what you also get by email", show=_print_emails)
    emails.add_argument("--on", action="append", default=[], metavar="KIND", help="get this kind; may be repeated")
    emails.add_argument("--off", action="append", default=[], metavar="KIND", help="do not get this kind")


def _list(connection: Connection, arguments: argparse.Namespace) -> Any:
    return list(items(connection, "/notifications", {"unread": "true"} if arguments.unread else {}))


def _read(connection: Connection, arguments: argparse.Namespace) -> Any:
    return connection.post("/notifications/read", {"ids": arguments.notification or None})


def _emails(connection: Connection, arguments: argparse.Namespace) -> Any:
    chosen = dict.fromkeys(arguments.on, True) | dict.fromkeys(arguments.off, False)
    return connection.patch("/account/emails", chosen) if chosen else connection.get("/account/emails")


def _print(answer: Any) -> None:
    for item in answer:
        found = understood(notification, item)
        mark = "*" if found.read_at is None else " "
        print(f"{mark} {instant(found.created_at)}  {printable(found.title)}  {printable(found.link)}")


def _print_emails(answer: Any) -> None:
    for kind, is_chosen in understood(dict, answer).items():
        print(f"{'on ' if is_chosen else 'off'}  {printable(str(kind))}")
