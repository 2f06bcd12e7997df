"""Run `vocboard` on a machine whose clock is wrong: python -m tests.soak.clock FILE ARGUMENTS.

The file says by how many seconds, and may change at any time. All of vocboard asks `app.database` for the time.
"""

import sys
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


if __name__ == "__main__":
    database.datetime = Wrong  # type: ignore[misc]
    sys.exit(main(sys.argv[2:]))
