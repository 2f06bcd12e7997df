"""`vocboard challenges`: list the challenges of a server."""

import argparse
from collections.abc import Sequence
from datetime import datetime

from vocboard.client.answers import Challenge, challenge, understood
from vocboard.client.terminal import instant, printable
from vocboard.commands.connecting import add_online_arguments, connect
from vocboard.commands.names import all_challenges
from vocboard.commands.reporting import DONE, print_json
from vocboard.commands.tables import Column, render, shortened, terminal_width


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_online_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each challenge that the user may see."""
    with connect(arguments.server, as_visitor=True) as connection:
        items = all_challenges(connection)
    if arguments.json:
        print_json({"items": items, "total": len(items)})
    elif items:
        print(_listed([understood(challenge, item) for item in items]))
    else:
        print("No challenges yet.")
    return DONE


def _listed(challenges: Sequence[Challenge]) -> str:
    return render(
        [
            Column("CHALLENGE", [printable(each.slug) for each in challenges]),
            Column("STATE", [printable(each.phase) for each in challenges]),
            Column("OPENS", [_date(each.opens_at) for each in challenges]),
            Column("CLOSES", [_date(each.closes_at) for each in challenges]),
            Column("TITLE", [shortened(printable(each.title)) for each in challenges]),
        ],
        width=terminal_width(),
    )


def _date(moment: datetime | None) -> str:
    return "–" if moment is None else instant(moment)
