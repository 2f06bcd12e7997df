"""Result files read into arrays the way a user would have them, without vocboard's readers."""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree
from PIL import Image

from vocboard.evaluator.names import Task
from vocboard.evaluator.rules import Competition, Edition


def arrays_of(results: Path, edition: Edition) -> dict[str, Any]:
    """Return the results of an archive in memory, by competition."""
    contents = dict(_contents(results))
    found: dict[str, Any] = {}
    for competition in edition.competitions.values():
        content = _of_competition(competition, contents, edition)
        if content:
            found[competition.key] = content
    return found


def _contents(results: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(results) as archive:
        for member in archive:
            if member.isfile():
                file = archive.extractfile(member)
                name = member.name.split("/", 2)[2] if member.name.startswith("results/") else member.name
                yield name, file.read()


def _of_competition(competition: Competition, contents: dict[str, bytes], edition: Edition) -> Any:
    pattern = competition.result_file
    by_class = {
        name: contents[pattern.replace("{class}", name)]
        for name in competition.classes
        if pattern.replace("{class}", name) in contents
    }
    match competition.task:
        case Task.DETECTION:
            return {name: _lines(text, "images scores boxes") for name, text in by_class.items()}
        case Task.CLASSIFICATION:
            return {name: _lines(text, "images scores") for name, text in by_class.items()}
        case Task.ACTION:
            return {name: _lines(text, "images objects scores") for name, text in by_class.items()}
        case Task.SEGMENTATION:
            before, after = pattern.split("{image}")
            return {
                name[len(before) : -len(after)]: np.asarray(Image.open(io.BytesIO(content)))
                for name, content in contents.items()
                if name.startswith(before) and name.endswith(after)
            }
        case Task.LAYOUT:
            return [_layout(each) for each in etree.fromstring(contents[pattern])] if pattern in contents else None
    raise ValueError(competition.task)


def _lines(text: bytes, keys: str) -> dict[str, Any]:
    rows = [line.split() for line in text.decode().splitlines() if line.strip()]
    found: dict[str, Any] = {}
    for index, key in enumerate(keys.split()):
        column = [row[index] for row in rows]
        if key == "boxes":
            found[key] = np.array([row[index:] for row in rows], dtype=np.float64).reshape(-1, 4)
        else:
            kind = {"images": np.str_, "objects": np.int64, "scores": np.float64}[key]
            found[key] = np.array(column, dtype=kind)
    return found


def _layout(element: Any) -> dict[str, Any]:
    def box(parent: Any) -> list[float]:
        return [float(parent.findtext(f"bndbox/{side}")) for side in ("xmin", "ymin", "xmax", "ymax")]

    parts = element.findall("part")
    found = {
        "image": element.findtext("image").strip(),
        "score": float(element.findtext("confidence")),
        "labels": [part.findtext("class").strip() for part in parts],
        "boxes": np.array([box(part) for part in parts]).reshape(-1, 4),
    }
    if element.find("object") is not None:
        return {**found, "object": int(element.findtext("object"))}
    return {**found, "person_box": box(element)}
