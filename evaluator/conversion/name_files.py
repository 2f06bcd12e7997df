"""Reads files that list the images and categories of other tools, with their ids."""

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from vocboard.evaluator.conversion.names import Id
from vocboard.evaluator.conversion.problems import ConversionError
from vocboard.evaluator.problems import Problem, Severity


def read_image_names(path: Path) -> dict[Id, str]:
    """Return image names by id: from COCO JSON with `images`, a JSON object of names by id, or lines `<id> <name>`.

    Raises:
        ConversionError: it is none of these.
        OSError: the file cannot be read.
    """
    document = _json_or_none(path)
    if isinstance(document, dict) and isinstance(document.get("images"), list):
        rows = [row for row in document["images"] if _has(row, "id", "file_name") and isinstance(row["id"], int | str)]
        if rows:
            return {row["id"]: str(row["file_name"]) for row in rows}
    if isinstance(document, dict) and document and all(isinstance(name, str) for name in document.values()):
        return {_id(key): name for key, name in document.items()}
    lines = [] if document is not None else [line.split(maxsplit=1) for line in _lines(path)]
    if lines and all(len(line) == 2 for line in lines):
        return {_id(line[0]): line[1].strip() for line in lines}
    raise _not_read(
        path, "image names", 'a COCO JSON with "images", a JSON object of names by id, or lines "<id> <name>"'
    )


def read_category_names(path: Path, first: int) -> dict[Id, str]:
    """Return category names by number.

    The file is COCO JSON with `categories`, a JSON list or object, a text file with one name per line, or a YAML file
    with `names:`, as Ultralytics uses for data sets.

    Args:
        path: the file.
        first: number of the first name, if the file has only names.

    Raises:
        ConversionError: it is none of these.
        OSError: the file cannot be read.
    """
    document = _json_or_none(path)
    if isinstance(document, dict) and "categories" in document:
        document = document["categories"]
    if (
        isinstance(document, list)
        and document
        and all(_has(row, "id", "name") and isinstance(row["id"], int | str) for row in document)
    ):
        return {row["id"]: str(row["name"]) for row in document}
    if isinstance(document, list) and document and all(isinstance(name, str) for name in document):
        return dict(enumerate(document, start=first))
    if isinstance(document, dict) and document and all(isinstance(name, str) for name in document.values()):
        return {_id(number): name for number, name in document.items()}
    if document is None:
        names = _names_in_text(_lines(path), first)
        if names:
            return names
    raise _not_read(
        path, "category names", 'a COCO JSON with "categories", a JSON list, a YAML "names:", or one name per line'
    )


def _id(text: str) -> Id:
    """Return the id that a key or a line has: a number unless that would change its text, as for 007."""
    return int(text) if text.isascii() and text.isdecimal() and str(int(text)) == text else text


def _has(row: Any, *keys: str) -> bool:
    return isinstance(row, dict) and all(key in row for key in keys)


def _json_or_none(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError:
        return None


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError:
        return []


def _names_in_text(lines: Collection[str], first: int) -> dict[Id, str]:
    """Return the names of a text file by number: one per line, or in YAML below `names:`."""
    listed = [line for line in lines if not line.lstrip().startswith("#")]  # comments
    start = next((place for place, line in enumerate(listed) if line.startswith("names:")), None)
    if start is None:
        return {number: line.strip() for number, line in enumerate(listed, start=first)}
    inline = re.match(r"names:\s*\[([^\]]*)\]", "".join(listed[start:]))  # also of several lines
    if inline:
        return {number: _unquoted(name) for number, name in enumerate(inline[1].strip(", ").split(","), start=first)}
    names: dict[Id, str] = {}
    for line in listed[start + 1 :]:
        entry = re.fullmatch(r"\s*(?:-\s*|(\d+)\s*:\s*)([^#]+?)\s*(?:#.*)?", line)
        if not entry:
            break
        names[int(entry[1]) if entry[1] else first + len(names)] = _unquoted(entry[2])
    return names


def _unquoted(name: str) -> str:
    return name.strip().strip("'\"")


def _not_read(path: Path, what: str, expected: str) -> ConversionError:
    message = f"This file has no {what}; expected {expected}."
    return ConversionError([Problem("unreadable_names", Severity.ERROR, message, path.name)])
