"""Celery's beat: a wake-up for the workers from time to time. They look for work without it, too."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from celery import Celery
from celery.beat import Scheduler

from vocboard.app.messaging.broker import SEND_MAIL, SWEEP, create_celery
from vocboard.app.settings import Settings

MISSED_AFTER = 4  # wake-ups that have not been sent


def create_beat(settings: Settings) -> Celery:
    """Return the application of beat, with its schedule."""
    application = create_celery(settings, name="vocboard.beat")
    seconds = settings.sweep_interval.total_seconds()
    application.conf.update(
        # A wake-up that nobody has read when the next one comes is of no use.
        beat_schedule={
            task: {"task": task, "schedule": seconds, "options": {"expires": seconds}} for task in (SWEEP, SEND_MAIL)
        },
        beat_scheduler=f"{__name__}:{NotingScheduler.__name__}",
        beat_max_loop_interval=seconds,
    )
    return application


class NotingScheduler(Scheduler):  # type: ignore[misc]  # Celery has no types
    """Notes when a wake-up was last sent. It keeps no schedule in a file: nothing is lost if one is early or late."""

    def apply_async(self, *arguments: Any, **options: Any) -> Any:
        """Send one."""
        result = super().apply_async(*arguments, **options)  # raises if the broker cannot be reached
        _note()
        return result


def seconds_since_last() -> float | None:
    """How long ago this machine's (or container's) beat last sent a wake-up; None if it never has."""
    try:
        status = _file().lstat()
    except FileNotFoundError:
        return None
    return time.time() - status.st_mtime if status.st_uid == os.getuid() else None


def _note() -> None:
    # Anybody may write to the directory: do not follow a link that somebody has put there.
    descriptor = os.open(_file(), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        os.utime(descriptor)
    finally:
        os.close(descriptor)


def _file() -> Path:
    return Path(tempfile.gettempdir()) / f"vocboard-beat-{os.getuid()}"
