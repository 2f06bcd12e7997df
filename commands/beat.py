"""`vocboard beat`: wake the workers from time to time. One is enough."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description = "Wake the workers for their periodic sweep until stopped. Run one of these beside the workers."


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001  # every command has the same shape
    """Wake them until stopped."""
    # The participant's commands start without the server's packages.
    from vocboard.app.settings import Settings  # noqa: PLC0415
    from vocboard.worker.beat import create_beat  # noqa: PLC0415

    create_beat(Settings()).Beat(loglevel="INFO", quiet=True).run()
    return 0
