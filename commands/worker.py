"""`vocboard worker`: evaluate submissions and import ground truth."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = "Evaluate submissions and import ground truth until stopped; SIGTERM lets running ones finish."
    parser.add_argument(
        "--beat", action="store_true", help="sweep periodically, too: for an installation of one machine"
    )


def run(arguments: argparse.Namespace) -> int:
    """Work until stopped."""
    # The participant's commands start without the server's packages.
    from app.broker import BELLS, SWEEPS  # noqa: PLC0415
    from app.settings import Settings  # noqa: PLC0415
    from worker.celery_app import create_worker  # noqa: PLC0415
    from worker.truth_directory import TruthDirectory  # noqa: PLC0415

    settings = Settings()
    TruthDirectory(settings).private_key()  # from now on ground truth can be uploaded
    worker = create_worker(settings).Worker(
        pool="prefork",
        queues=[BELLS, SWEEPS],
        loglevel="INFO",
        beat=arguments.beat,
        # Workers have nothing to say to each other: the database is what they share.
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)
