"""Tables for terminals. Wide tables are split into blocks that repeat their first columns."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from vocboard.client.terminal import display_width

GAP = "  "
MAX_NAME_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, its cells, and whether they are right-aligned."""

    heading: str
    cells: Sequence[str]
    right: bool = False

    @property
    def width(self) -> int:
        """In columns of the terminal."""
        return max(map(display_width, (self.heading, *self.cells)))

    def drawn(self) -> list[str]:
        """Heading and cells, padded to the same width."""
        width = self.width
        texts = []
        for text in (self.heading, *self.cells):
            fill = " " * (width - display_width(text))
            texts.append(fill + text if self.right else text + fill)
        return texts


def render(columns: Sequence[Column], *, repeated: int = 1, width: int | None = None) -> str:
    """Return a table as lines, without a final newline.

    Args:
        columns: all with the same number of cells.
        repeated: number of leading columns that name the row, repeated at the left of every block.
        width: width of the terminal; columns that do not fit go into further blocks. None for a single block.

    >>> print(render([Column("class", ["car", "bird"]), Column("AP", ["0.5", "n/a"], right=True)]))
    class   AP
    car    0.5
    bird   n/a
    """
    names, others = list(columns[:repeated]), list(columns[repeated:])
    room = None if width is None else width - sum(column.width + len(GAP) for column in names)
    return "\n\n".join(_lined_up([*names, *block]) for block in _blocks(others, room))


def terminal_width() -> int | None:
    """Return the width of the terminal; None if standard output is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def shortened(name: str) -> str:
    """Return a name, shortened if standard output is a terminal."""
    if not sys.stdout.isatty() or len(name) <= MAX_NAME_LENGTH:
        return name
    return f"{name[: MAX_NAME_LENGTH - 1]}…"


def _blocks(columns: Sequence[Column], room: int | None) -> list[list[Column]]:
    """Split the columns into blocks that fit the width; a column that is too wide gets its own block."""
    blocks: list[list[Column]] = [[]]
    taken = 0
    for column in columns:
        needed = column.width + (len(GAP) if blocks[-1] else 0)
        if room is not None and blocks[-1] and taken + needed > room:
            blocks.append([])
            taken, needed = 0, column.width
        blocks[-1].append(column)
        taken += needed
    return blocks


def _lined_up(columns: Sequence[Column]) -> str:
    return "\n".join(GAP.join(cells).rstrip() for cells in zip(*(column.drawn() for column in columns), strict=True))
