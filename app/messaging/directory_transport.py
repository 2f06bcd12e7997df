"""Celery's messages as files of a directory: kombu's filesystem transport, made safe for many processes.

kombu's own writes a message in place, so that a reader may take it half-written, and fetches it by way of the
system's temporary directory. Here a message appears by being renamed, and belongs to the reader who could rename it.
"""

import json
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem

SCHEME = "directory"


class Channel(filesystem.Channel):
    """Puts and gets messages of queues."""

    def _put(  # type: ignore[override]  # kombu's own classes disagree on the names
        self, queue: str, payload: Any, **_options: Any
    ) -> None:
        """Write a message; nobody sees it before it is complete."""
        folder = Path(self.data_folder_out)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns():020d}_{uuid.uuid4()}.{queue}.msg"  # their order is that of the names
        unfinished = folder / f".{name}"
        unfinished.write_text(json.dumps(payload), encoding="utf-8")
        unfinished.rename(folder / name)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """Take the oldest message of a queue."""
        folder = Path(self.data_folder_in)
        for path in sorted(folder.glob(f"*.{queue}.msg")):
            if path.name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = path.with_name(f".{path.name}")
            try:
                path.rename(taken)
            except FileNotFoundError:  # another process was faster
                continue
            content = taken.read_text(encoding="utf-8")
            taken.unlink()
            return json.loads(content)
        raise Empty


class Transport(filesystem.Transport):
    """What Celery uses for addresses of this scheme."""

    Channel = Channel


def register() -> None:
    """Make Celery know the scheme."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
