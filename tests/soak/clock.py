"""Run `vocboard` on a machine whose clock is wrong: python -m tests.soak.clock FILE ARGUMENTS.

The file says by how many seconds, and may change at any time. All of vocboard asks `app.database` for the time.
"""

import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from vocboard.app import database
from vocboard.commands import main as program


def main(arguments: Sequence[str]) -> int:
    """Run the program, and return its exit status."""
    file = Path(arguments[0])

    class Wrong(datetime):
        """Shows the time by the machine's clock."""

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            """Return the time, wrong by as much as the file says now."""
            return datetime.now(tz) + timedelta(seconds=float(file.read_text() or 0))

    database.datetime = Wrong  # type: ignore[misc]
    return program.main(arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
