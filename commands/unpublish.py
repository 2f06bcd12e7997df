"""`vocboard unpublish`: remove a submission from the leaderboards."""

import argparse

from vocboard.client.publishing import publish_body
from vocboard.commands import changing


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    changing.configure(parser)
    changing.add_competition_argument(parser, "unpublish only the result in this competition")


def run(arguments: argparse.Namespace) -> int:
    """Remove a submission from the leaderboards."""
    where = f" of {', '.join(arguments.competition)}" if arguments.competition else ""
    done = f"no longer on the leaderboards{where}"
    return changing.change(arguments, "unpublish", done, publish_body(arguments.competition))
