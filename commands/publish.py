"""`vocboard publish`: publish a scored submission on the leaderboards."""

import argparse

from vocboard.client.errors import MisdirectedError
from vocboard.client.publishing import publish_body
from vocboard.commands import changing
from vocboard.commands.reporting import say

ALREADY_PUBLISHED = "already_published"  # an error code of the server


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    changing.configure(parser)
    changing.add_competition_argument(parser, "publish only the result in this competition")
    parser.add_argument(
        "--replace",
        action="store_true",
        help="unpublish what the same method has published in these competitions, in the same step",
    )


def run(arguments: argparse.Namespace) -> int:
    """Publish a scored submission on the leaderboards."""
    body = publish_body(arguments.competition, replace=arguments.replace)
    try:
        return changing.change(arguments, "publish", "published", body)
    except MisdirectedError as error:
        if error.code == ALREADY_PUBLISHED and not arguments.replace:
            say("to publish this result in place of another version, use --replace")
        raise
