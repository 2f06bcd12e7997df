"""TOML with the lines of its keys.

Neither `tomllib` nor the libraries that write TOML say where a key stands, so the file is read once more, statement by
statement.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from vocboard.evaluator.editions.mistakes import EditionFileError, Mistake

MOST_BYTES = 65_536  # of a file; those of the VOC years have 3,000
MOST_STATEMENT_LINES = 300  # of a list, beyond which a key is told without its line
MOST_SYNTAX_MISTAKES = 20
_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def parse(text: str, file: str) -> dict[str, Any]:
    """Return the content of a TOML file.

    Args:
        file: what to call it in messages.

    Raises:
        EditionFileError: it is too long, or not TOML; with every line that is not, as far as that can be told.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise EditionFileError(file, [Mistake(None, f"An edition file has at most {MOST_BYTES:,} bytes.")])
    lines = text.split("\n")
    mistakes: list[Mistake] = []
    content: dict[str, Any] = {}
    while len(mistakes) < MOST_SYNTAX_MISTAKES:
        try:
            content = tomllib.loads("\n".join(lines))
            break
        except (ValueError, RecursionError) as error:  # ValueError: also a number with thousands of digits
            mistake = _syntax_mistake(error)
        if mistakes and (mistake.line or 0) <= (mistakes[-1].line or 0):
            break  # the rest follows from what has been told
        mistakes.append(mistake)
        if mistake.line is None or "Cannot" in mistake.message:  # overwrite or declare twice: not a line's fault alone
            break
        lines[mistake.line - 1] = ""  # read on as if the line were not there
    if mistakes:
        raise EditionFileError(file, mistakes)
    return content


def line_index(text: str) -> Mapping[str, int]:
    """Return the line, from 1 on, of every table and key of a well-formed TOML file.

    >>> line_index('name = "A"\\n[tasks.detection]\\nfile = "x"\\n[[competitions]]\\nnumber = 1\\n')
    {'name': 1, 'tasks': 2, 'tasks.detection': 2, 'tasks.detection.file': 3, 'competitions[1]': 4, \
'competitions[1].number': 5}
    """
    lines = text.split("\n")
    index: dict[str, int] = {}
    counts: Counter[str] = Counter()
    table, at = "", 0
    while at < len(lines):
        begun, number = lines[at].lstrip(), at + 1
        at, content = _statement(lines, at)
        paths = list(_paths(content))
        if begun.startswith("[") and paths:
            table = paths[-1]
            if begun.startswith("[["):
                counts[table] += 1
                table = f"{table}[{counts[table]}]"
            paths[-1] = table
        else:
            paths = [f"{table}.{path}".lstrip(".") for path in paths]
        for path in paths:
            index.setdefault(path, number)
    return index


def _statement(lines: list[str], start: int) -> tuple[int, Mapping[str, Any]]:
    """Return where the statement that begins at a line ends, and what it says; nothing of one that is too long."""
    for end in range(start + 1, min(start + MOST_STATEMENT_LINES, len(lines)) + 1):
        try:
            return end, tomllib.loads("\n".join(lines[start:end]))
        except (ValueError, RecursionError):
            continue
    return start + 1, {}


def _paths(content: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Every key below, outer ones first; a list of tables is one key."""
    for key, value in content.items():
        path = f"{above}.{key}".lstrip(".")
        yield path
        if isinstance(value, dict):
            yield from _paths(value, path)


def _syntax_mistake(error: Exception) -> Mistake:
    if isinstance(error, RecursionError):
        return Mistake(None, "not a TOML file: It is nested too deeply.")
    found = _POSITION.search(str(error))
    line = int(found[1]) if found and found[1] else None
    return Mistake(line, f"not a TOML file: {_POSITION.sub('', str(error))}.")
