"""`vocboard worker`: run a worker that evaluates submissions and imports ground truth, or one that sends email."""

import argparse
import gc
import sys

from vocboard.evaluator.garbage import collection_paused


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Evaluate submissions and import ground truth until stopped. On SIGTERM, running evaluations finish first."
    )
    parser.add_argument(
        "--only", choices=["mail"], help="only send email; such a worker needs no access to archives or ground truth"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run until stopped."""
    # Imported here: participants' commands must start without the server's packages.
    with collection_paused():
        from celery.signals import setup_logging  # noqa: PLC0415

        from vocboard import migrations  # noqa: PLC0415
        from vocboard.app import logs  # noqa: PLC0415
        from vocboard.app.jobs.models import MAIL_KINDS, Kind  # noqa: PLC0415
        from vocboard.app.messaging import delivery  # noqa: PLC0415
        from vocboard.app.settings import Environment, Settings  # noqa: PLC0415
        from vocboard.worker import ground_truth_files  # noqa: PLC0415
        from vocboard.worker.celery_app import create_worker  # noqa: PLC0415
    gc.freeze()  # what is imported stays, and processes that are forked share it

    settings = Settings.of_process("database_url", "broker_url")
    logs.configure(settings.log_format)
    setup_logging.connect(lambda **_: None, weak=False)  # Celery leaves it as it is
    migrations.require_newest(settings.database)
    if arguments.only == "mail":
        kinds = MAIL_KINDS
        try:
            delivery.sender(settings)
        except ValueError as error:
            print(f"vocboard worker: {error}", file=sys.stderr)
            return 2
    else:
        ground_truth_files.require(settings)
        is_embedded = settings.environment is Environment.EMBEDDED  # which has no mail worker
        kinds = frozenset(Kind) if is_embedded else frozenset(Kind) - MAIL_KINDS
    worker = create_worker(settings, kinds).Worker(
        pool="prefork",
        loglevel="INFO",
        quiet=True,  # without Celery's banner, which is no line of a log
        # Workers do not need to communicate: they share the database.
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)
