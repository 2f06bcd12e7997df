"""Celery beat, which sends periodic wake-ups. Workers also poll without it."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from celery import Celery
from celery.beat import Scheduler

from vocboard.app.messaging.broker import MAIL, SCORING, WORK, create_celery
from vocboard.app.settings import Settings

MISSED_AFTER = 4  # missed wake-ups


def create_beat(settings: Settings) -> Celery:
    """Return the Celery application of beat, with its schedule."""
    application = create_celery(settings, name="vocboard.beat")
    seconds = settings.sweep_interval.total_seconds()
    application.conf.update(
        # A wake-up expires when the next one is sent.
        beat_schedule={
            queue: {"task": WORK, "schedule": seconds, "options": {"queue": queue, "expires": seconds}}
            for queue in (SCORING, MAIL)
        },
        beat_scheduler=f"{__name__}:{RecordingScheduler.__name__}",
        beat_max_loop_interval=seconds,
    )
    return application


class RecordingScheduler(Scheduler):  # type: ignore[misc]  # Celery has no types
    """A scheduler that records when it last sent a wake-up, without a schedule file: timing is not critical."""

    def apply_async(self, *arguments: Any, **options: Any) -> Any:
        """Send a wake-up."""
        result = super().apply_async(*arguments, **options)  # raises if the broker cannot be reached
        _note()
        return result


def seconds_since_last() -> float | None:
    """Return the seconds since beat on this machine or container last sent a wake-up; None if it never has."""
    try:
        status = _file().lstat()
    except FileNotFoundError:
        return None
    return time.time() - status.st_mtime if status.st_uid == os.getuid() else None


def _note() -> None:
    # The directory is world-writable: do not follow symbolic links.
    descriptor = os.open(_file(), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        os.utime(descriptor)
    finally:
        os.close(descriptor)


def _file() -> Path:
    return Path(tempfile.gettempdir()) / f"vocboard-beat-{os.getuid()}"
