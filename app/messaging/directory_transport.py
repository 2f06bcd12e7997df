"""Celery messages as files in a directory: kombu's filesystem transport, made safe for several processes.

kombu's transport writes messages in place, so readers may get incomplete ones, and moves them to the system's temporary
directory to read them. Here, messages are published by a rename, and claimed by the reader whose rename succeeds.
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
    """Writes and reads messages of queues."""

    def _put(  # type: ignore[override]  # kombu's classes use different names
        self, queue: str, payload: Any, **_options: Any
    ) -> None:
        """Write a message atomically."""
        folder = Path(self.data_folder_out)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns():020d}_{uuid.uuid4()}.{queue}.msg"  # ordered by name
        unfinished = folder / f".{name}"
        unfinished.write_text(json.dumps(payload), encoding="utf-8")
        unfinished.rename(folder / name)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """Remove and return the oldest message of a queue."""
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
    """The transport for URLs of this scheme."""

    Channel = Channel


def register() -> None:
    """Register the scheme with Celery."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
