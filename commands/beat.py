"""`vocboard beat`: trigger the workers' periodic sweep. Run one."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description = "Trigger the workers' periodic sweep until stopped. Run exactly one next to the workers."


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001  # all commands have the same signature
    """Run until stopped."""
    # Imported here: participants' commands must start without the server's packages.
    from celery.signals import setup_logging  # noqa: PLC0415

    from vocboard.app import logs  # noqa: PLC0415
    from vocboard.app.settings import Settings  # noqa: PLC0415
    from vocboard.worker.beat import create_beat  # noqa: PLC0415

    settings = Settings()
    logs.configure(settings.log_format)
    setup_logging.connect(lambda **_: None, weak=False)  # Celery leaves it as it is
    create_beat(settings).Beat(loglevel="INFO", quiet=True).run()
    return 0
