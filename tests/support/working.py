"""A worker process, as operators start it."""

import contextlib
import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from pydantic import SecretStr

from tests.support import forked
from tests.support.forked import Forked
from vocboard.app.settings import Settings


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the environment in which another process has the same settings."""
    given = {
        f"VOCBOARD_{name.upper()}": value
        for name in settings.model_fields_set
        if (value := getattr(settings, name)) is not None
    }
    return {**os.environ, **{name: _text(value) for name, value in given.items()}}


def _text(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return f"PT{value.total_seconds()}S" if isinstance(value, timedelta) else str(value)


@contextlib.contextmanager
def working(settings: Settings, log: Path) -> Iterator[Forked]:
    """Run `vocboard worker` until the block ends."""
    with log.open("ab") as output:
        worker = forked.start(["worker"], environment=environment_of(settings), output=output)
    try:
        yield worker
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)  # its children too; a warm shutdown would take seconds
        worker.wait()
