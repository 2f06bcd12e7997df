"""`vocboard withdraw`: withdraw a submission."""

import argparse

from vocboard.commands import changing
from vocboard.commands.connecting import reporting_errors


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    changing.configure(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


@reporting_errors
def run(arguments: argparse.Namespace) -> int:
    """Withdraw a submission, which cannot be undone."""
    changing.require_confirmation(
        arguments,
        "This cannot be undone. The submission leaves the leaderboards (frozen ones keep it), its page no longer "
        "shows scores, its anonymous link ends, and its archive is deleted after some time. Its quota only comes back "
        "while it is queued.",
    )
    return changing.change(arguments, "withdraw", "withdrawn")
