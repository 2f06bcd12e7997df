"""`vocboard publish`: publish a scored submission on the leaderboards."""

import argparse

from vocboard.commands import changing
from vocboard.commands.connecting import reporting_errors


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    changing.configure(parser)


@reporting_errors
def run(arguments: argparse.Namespace) -> int:
    """Publish a scored submission on the leaderboards."""
    return changing.change(arguments, "publish", "published")
