"""`vocboard publish`: publish a scored submission on the leaderboards."""

import argparse

from vocboard.client.publishing import publishing
from vocboard.commands import changing
from vocboard.commands.connecting import reporting_errors


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    changing.configure(parser)
    changing.add_competition_argument(parser, "publish only the result in this competition")
    parser.add_argument(
        "--replace",
        action="store_true",
        help="unpublish what the same method has published in these competitions, in the same step",
    )


@reporting_errors
def run(arguments: argparse.Namespace) -> int:
    """Publish a scored submission on the leaderboards."""
    return changing.change(
        arguments, "publish", "published", publishing(arguments.competition, replace=arguments.replace)
    )
