"""Parses TOML with the line numbers of its keys.

No TOML library provides line numbers of keys, so the file is read once more, statement by statement.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from vocboard.evaluator.editions.mistakes import EditionFileError, Mistake

MAX_BYTES = 65_536  # of a file; those of the VOC years have 3,000
MAX_STATEMENT_LINES = 300  # maximum length of a list for which line numbers are determined
MAX_SYNTAX_MISTAKES = 20
NESTED_TOO_DEEPLY = "not a TOML file: It is nested too deeply."
MAX_DOTS = 100  # of a line outside texts; reading a key takes time that grows with the square of its parts
MAX_LEVELS = 20  # of nested tables and lists; a valid file has 4
_TEXTS_AND_COMMENTS = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'|#.*""")
_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def parse(text: str, file: str) -> dict[str, Any]:
    """Parse a TOML file.

    Args:
        file: name of the file for messages.

    Raises:
        EditionFileError: it is too long, or not TOML; lists every invalid line, if possible.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise EditionFileError(file, [Mistake(None, f"An edition file has at most {MAX_BYTES:,} bytes.")])
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if _TEXTS_AND_COMMENTS.sub("", line).count(".") > MAX_DOTS:
            raise EditionFileError(file, [Mistake(number, NESTED_TOO_DEEPLY)])
    mistakes: list[Mistake] = []
    content: dict[str, Any] = {}
    while len(mistakes) < MAX_SYNTAX_MISTAKES:
        try:
            content = tomllib.loads("\n".join(lines))
            break
        except (ValueError, RecursionError) as error:  # ValueError: also for numbers with thousands of digits
            mistake = _syntax_mistake(error)
        if mistakes and (mistake.line or 0) <= (mistakes[-1].line or 0):
            break  # the other errors are consequences
        mistakes.append(mistake)
        if mistake.line is None or "Cannot" in mistake.message:  # duplicate keys: involves more than one line
            break
        lines[mistake.line - 1] = ""  # continue without this line
    if not mistakes and _is_deeper(content, MAX_LEVELS):
        mistakes = [Mistake(None, NESTED_TOO_DEEPLY)]
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
    """Return the end of the statement that starts at a line, and its content; empty if it is too long."""
    for end in range(start + 1, min(start + MAX_STATEMENT_LINES, len(lines)) + 1):
        try:
            return end, tomllib.loads("\n".join(lines[start:end]))
        except (ValueError, RecursionError):
            continue
    return start + 1, {}


def _paths(content: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield all nested keys, outer ones first; a list of tables is one key."""
    for key, value in content.items():
        path = f"{above}.{key}".lstrip(".")
        yield path
        if isinstance(value, dict):
            yield from _paths(value, path)


def _is_deeper(content: Any, levels: int) -> bool:
    """Whether tables and lists are nested in more levels, without recursion, since they may be nested without limit."""
    level = [content]
    for _ in range(levels):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(value, dict | list) for value in level)


def _syntax_mistake(error: Exception) -> Mistake:
    if isinstance(error, RecursionError):
        return Mistake(None, NESTED_TOO_DEEPLY)
    found = _POSITION.search(str(error))
    line = int(found[1]) if found and found[1] else None
    return Mistake(line, f"not a TOML file: {_POSITION.sub('', str(error))}.")
