"""`vocboard unpublish`: remove a submission from the leaderboards."""

import argparse

from vocboard.commands import changing
from vocboard.commands.connecting import reporting_errors


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    changing.configure(parser)


@reporting_errors
def run(arguments: argparse.Namespace) -> int:
    """Remove a submission from the leaderboards."""
    return changing.change(arguments, "unpublish", "no longer on the leaderboards")
