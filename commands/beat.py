"""`vocboard beat`: call for the periodic sweep, where no worker does (`vocboard worker --beat`). One is enough."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description = "Call the workers to their periodic sweep until stopped. Run one of these beside the workers."


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001  # every command has the same shape
    """Call until stopped."""
    # The participant's commands start without the server's packages.
    from app.settings import Settings  # noqa: PLC0415
    from worker.celery_app import create_worker  # noqa: PLC0415

    create_worker(Settings()).Beat(loglevel="INFO", quiet=True).run()
    return 0
