"""`vocboard withdraw`: withdraw a submission."""

import argparse

from vocboard.commands import changing


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    changing.configure(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(arguments: argparse.Namespace) -> int:
    """Withdraw a submission, which cannot be undone."""
    changing.require_confirmation(
        arguments,
        "This cannot be undone. The submission leaves the leaderboards (frozen ones keep it), its page no longer "
        "shows scores, its anonymous link stops working, and its archive is deleted after some time. The quota is "
        "returned only if it is still queued.",
    )
    return changing.change(arguments, "withdraw", "withdrawn")
