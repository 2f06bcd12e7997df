"""`vocboard worker`: evaluate submissions and import ground truth, or send e-mail."""

import argparse
import sys


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = "Evaluate submissions and import ground truth until stopped; SIGTERM lets running ones finish."
    parser.add_argument(
        "--only", choices=["mail"], help="send e-mail and do nothing else; needs no access to archives and ground truth"
    )


def run(arguments: argparse.Namespace) -> int:
    """Work until stopped."""
    if arguments.only == "mail":
        return _send_mail()
    # The participant's commands start without the server's packages.
    from vocboard.app.messaging.broker import SCORING  # noqa: PLC0415
    from vocboard.app.settings import Settings  # noqa: PLC0415
    from vocboard.worker.celery_app import create_worker  # noqa: PLC0415
    from vocboard.worker.ground_truth_directory import GroundTruthDirectory  # noqa: PLC0415

    settings = Settings()
    GroundTruthDirectory(settings).private_key()  # from now on ground truth can be uploaded
    worker = create_worker(settings, kind=SCORING).Worker(
        pool="prefork",
        loglevel="INFO",
        # Workers have nothing to say to each other: the database is what they share.
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


def _send_mail() -> int:
    # As above.
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
