"""`vocboard webhooks`: addresses of programs that the server tells of events."""

import argparse
from typing import Any

from vocboard.client import webhooks
from vocboard.client.answers import understood
from vocboard.client.connection import Connection
from vocboard.client.terminal import instant, printable
from vocboard.commands.subcommands import add_action, add_actions, run_action

run = run_action


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = add_actions(parser)
    of_challenge = "of a challenge that you organise (default: your own, which are told of your submissions)"
    added = add_action(actions, "add", _add, "add a webhook, and print its id and its secret", show=_print_added)
    added.add_argument("url", metavar="URL", help="where to send events: https, on the internet")
    added.add_argument("event", nargs="+", metavar="EVENT", help="what to be told of, such as submission.scored")
    one = [
        add_action(actions, "test", _test, "send a test, which switches the webhook on if it arrives"),
        add_action(actions, "deliveries", _deliveries, "list what a webhook was told, newest first", show=_print_told),
        add_action(actions, "remove", _remove, "remove a webhook, with what waits for it"),
    ]
    for action in one:
        action.add_argument("webhook", metavar="ID", help="id of the webhook, from `list`")
    for action in (add_action(actions, "list", _list, "list webhooks", show=_print), added, *one):
        action.add_argument("--challenge", metavar="CHALLENGE", help=of_challenge)


def _list(connection: Connection, arguments: argparse.Namespace) -> Any:
    return webhooks.listed(connection, arguments.challenge)


def _add(connection: Connection, arguments: argparse.Namespace) -> Any:
    return webhooks.added(connection, arguments.challenge, arguments.url, arguments.event)


def _test(connection: Connection, arguments: argparse.Namespace) -> Any:
    return webhooks.tried(connection, arguments.challenge, arguments.webhook)


def _deliveries(connection: Connection, arguments: argparse.Namespace) -> Any:
    return list(webhooks.deliveries(connection, arguments.challenge, arguments.webhook))


def _remove(connection: Connection, arguments: argparse.Namespace) -> Any:
    return webhooks.removed(connection, arguments.challenge, arguments.webhook)


def _print(answer: Any) -> None:
    for found in understood(lambda content: [webhooks.webhook(one) for one in content], answer):
        off = "" if found.off_because is None else f"  off: {printable(found.off_because)}"
        print(f"{printable(found.id)}  {printable(found.url)}  {printable(' '.join(found.events))}{off}")


def _print_added(answer: Any) -> None:
    added = understood(webhooks.webhook, answer)
    print(printable(added.id))
    print(printable(added.secret or ""))


def _print_told(answer: Any) -> None:
    for one in answer:
        found = understood(webhooks.delivery, one)
        state = "delivered" if found.delivered else "waits" if found.ended_at is None else "given up"
        why = found.error or ("" if found.status is None else str(found.status))
        print(f"{instant(found.created_at)}  {printable(found.event)}  {state}  {printable(why)}".rstrip())
