"""Explains file names that are not those of result files."""

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from string import Formatter
from typing import Any

from vocboard.evaluator.archives import Member
from vocboard.evaluator.editions import Competition, Edition, load, names
from vocboard.evaluator.file_type import packed_as
from vocboard.evaluator.problems import Kind, quoted
from vocboard.evaluator.problems.files import (
    FILE_OF_ANOTHER_EDITION,
    NESTED_ARCHIVE,
    NESTED_TOO_DEEP,
    UNKNOWN_CLASS,
    UNKNOWN_FILE,
    WRONG_IMAGE_SET,
)
from vocboard.evaluator.reading.file_names import FileNames
from vocboard.evaluator.result_files.names import SYNONYMS, expected_name
from vocboard.evaluator.tasks.definitions import TASKS

_PACKED = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
_HEAD_BYTES = 512
_NEAR = 0.6  # minimum similarity (0 to 1) of suggested classes

Found = tuple[Kind, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class UnrecognisedFile:
    """A member of an archive that is not a result file.

    Attributes:
        looks: archive or compression format, if any.
    """

    name: str
    looks: str | None


def look_at(member: Member) -> UnrecognisedFile:
    """Return data to explain a member that is not a result file."""
    is_packed = member.name.lower().endswith(_PACKED)
    return UnrecognisedFile(member.name, packed_as(member.read(_HEAD_BYTES)) if is_packed else None)


class UnrecognisedFiles:
    """Explains unrecognised file names."""

    def __init__(self, edition: Edition, known: FileNames):
        self._edition, self._known = edition, known
        self._patterns = list(_patterns(edition))
        self._map_directories = list(_map_directories(edition))

    def problem(self, file: UnrecognisedFile) -> Found:
        """Return the kind of problem of a file, and the fields of its message."""
        if file.looks is not None:
            return NESTED_ARCHIVE, {"looks": file.looks}
        return (
            self._nested(file.name)
            or self._of_another_set(file.name)
            or self._of_another_edition(file.name)
            or self._misnamed(file.name)
            or (UNKNOWN_FILE, self._as(file.name))
        )

    def is_explained(self, file: UnrecognisedFile) -> bool:
        """Whether there is a more specific explanation than an unknown name."""
        return self.problem(file)[0] is not UNKNOWN_FILE

    def _as(self, name: str) -> dict[str, Any]:
        expected = partial(self._known.expectation, name)  # takes a while
        return {"edition": self._edition.name, "expected": expected}

    def _nested(self, name: str) -> Found | None:
        parts = name.split("/")
        for depth in range(len(parts) - 3, -1, -1):
            meant = "/".join((*parts[: depth + 1], parts[-1]))
            found = self._known.identify(meant)
            if found is not None and found.image is not None:
                directory = "/".join(parts[: depth + 1])
                return NESTED_TOO_DEEP, {"directory": quoted(f"{directory}/"), "expected": quoted(meant)}
        return None

    def _of_another_set(self, name: str) -> Found | None:
        directory, _, file = name.rpartition("/")
        for competition, pattern in self._patterns:
            match = pattern.fullmatch(file)
            fields = match.groupdict() if match else {}
            image_set, label = fields.get("image_set"), fields.get("class")
            is_other = image_set is not None and image_set.lower() != competition.image_set.lower()
            if is_other and (label is None or label in competition.classes):
                return _wrong_image_set(str(image_set), competition)
        for competition, pattern in self._map_directories:
            match = pattern.fullmatch(directory.rpartition("/")[2])
            if match and file.lower().endswith(".png") and match["image_set"] != competition.image_set:
                return _wrong_image_set(match["image_set"], competition)
        return None

    def _of_another_edition(self, name: str) -> Found | None:
        others = [edition for edition in names() if edition != self._edition.name and _names_of(edition).identify(name)]
        return (FILE_OF_ANOTHER_EDITION, self._as(name) | {"others": _some(others)}) if others else None

    def _misnamed(self, name: str) -> Found | None:
        file = name.rpartition("/")[2]
        for competition, pattern in self._patterns:
            match = pattern.fullmatch(file)
            if match is None:
                continue
            label, image_set = match.groupdict().get("class"), match.groupdict().get("image_set")
            if image_set is not None and image_set.lower() != competition.image_set.lower():
                return _wrong_image_set(image_set, competition)
            if label is not None and label not in competition.classes:
                return UNKNOWN_CLASS, self._as_class(label, competition)
        return None

    def _as_class(self, label: str, competition: Competition) -> dict[str, Any]:
        meant = _meant_class(label, competition.classes)
        if meant is None:
            expected = f"expected one of {', '.join(competition.classes)}"
        else:
            file = expected_name(competition, meant).rpartition("/")[2]
            expected = f"the most similar is {quoted(meant)}, whose file is {quoted(file)}"
        what, key = TASKS[competition.task].class_noun, competition.key
        return {
            "label": quoted(label),
            "what": what,
            "competition": key,
            "edition": self._edition.name,
            "expected": expected,
        }


def _wrong_image_set(found: str, competition: Competition) -> Found:
    expected = quoted(competition.image_set)
    return WRONG_IMAGE_SET, {"found": quoted(found), "competition": competition.key, "expected": expected}


@cache
def _names_of(edition: str) -> FileNames:
    return FileNames(load(edition))


def _some(editions: Collection[str]) -> str:
    *others, last = editions
    return f"{', '.join(others)} and {last}" if others else last


def _meant_class(label: str, classes: Collection[str]) -> str | None:
    plain = re.sub(r"[-_ ]", "", label.lower())
    near = difflib.get_close_matches(SYNONYMS.get(plain, plain), classes, n=1, cutoff=_NEAR)
    return near[0] if near else None


def _patterns(edition: Edition) -> Iterator[tuple[Competition, re.Pattern[str]]]:
    """Return patterns of file names by competition, for any class and image set."""
    for competition in edition.competitions.values():
        values: Mapping[str, str] = {
            "competition": re.escape(competition.key),
            "image_set": "(?P<image_set>[A-Za-z0-9]{1,20})",
            "class": r"(?P<class>[\w -]{1,60})",
        }
        parts, fields = [], set()
        for text, field, _, _ in Formatter().parse(competition.rules.file.rpartition("/")[2]):
            parts.append(re.escape(text))
            if field is not None:
                parts.append(values.get(field, ".+") if field not in fields else ".+")
                fields.add(field)
        if "image" not in fields:
            yield competition, re.compile("".join(parts), re.IGNORECASE)


def _map_directories(edition: Edition) -> Iterator[tuple[Competition, re.Pattern[str]]]:
    """Return patterns of directory names of label maps, for any image set."""
    for competition in edition.competitions.values():
        directory = competition.rules.file.rpartition("/")[0].rpartition("/")[2]
        if TASKS[competition.task].has_file_per_image and "{image_set}" in directory:
            pattern = re.escape(directory).replace(re.escape("{competition}"), re.escape(competition.key))
            yield competition, re.compile(pattern.replace(re.escape("{image_set}"), "(?P<image_set>[A-Za-z0-9]{1,20})"))
