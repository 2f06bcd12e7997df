"""Run `vocboard` on a machine whose clock is wrong: python -m tests.soak.clock FILE ARGUMENTS.

The file says by how many seconds, and may change at any time. All of vocboard asks `app.database` for the time.
"""

import os
import signal
import sys
import threading
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from vocboard.app import database
from vocboard.commands.main import main

_FILE = Path(sys.argv[1])


class Wrong(datetime):
    """Shows the time by the machine's clock."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        """Return the time, wrong by as much as the file says now."""
        return datetime.now(tz) + timedelta(seconds=float(_FILE.read_text() or 0))


def end_with_parent() -> None:
    """Kill this process with its children when its standard input ends, also because the parent was killed."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    database.datetime = Wrong  # type: ignore[misc]
    sys.exit(main(sys.argv[2:]))
