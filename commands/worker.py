"""`vocboard worker`: run a worker that evaluates submissions and imports ground truth, or one that sends email."""

import argparse
import sys
from contextlib import closing, suppress


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
    from vocboard import migrations  # noqa: PLC0415
    from vocboard.app.settings import Settings  # noqa: PLC0415

    migrations.require_newest(Settings().database)
    if arguments.only == "mail":
        return _send_mail()
    from sqlalchemy.exc import OperationalError  # noqa: PLC0415

    from vocboard.app.database import Database  # noqa: PLC0415
    from vocboard.worker import ground_truth_files  # noqa: PLC0415
    from vocboard.worker.celery_app import create_worker  # noqa: PLC0415
    from vocboard.worker.ground_truth_directory import GroundTruthDirectory, LostKeyError  # noqa: PLC0415

    settings = Settings()
    try:
        GroundTruthDirectory(settings).private_key()  # creates the key pair, so that ground truth can be uploaded
    except LostKeyError as error:
        raise SystemExit(f"vocboard worker: {error}") from error
    with suppress(OperationalError), closing(Database(settings.database)) as database, database.reading() as session:
        ground_truth_files.require(session, settings)
    worker = create_worker(settings).Worker(
        pool="prefork",
        loglevel="INFO",
        # Workers do not need to communicate: they share the database.
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


def _send_mail() -> int:
    # Imported here for the same reason.
    from vocboard.app.messaging.broker import MAIL  # noqa: PLC0415
    from vocboard.app.settings import Settings  # noqa: PLC0415
    from vocboard.worker.mail import create_mail_worker  # noqa: PLC0415

    try:
        application = create_mail_worker(Settings())
    except ValueError as error:
        print(f"vocboard worker: {error}", file=sys.stderr)
        return 2
    worker = application.Worker(
        pool="solo", queues=[MAIL], loglevel="INFO", without_gossip=True, without_mingle=True, without_heartbeat=True
    )
    worker.start()
    return int(worker.exitcode or 0)
