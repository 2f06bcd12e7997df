"""Names of result files: maps members of an archive to competitions and classes or images."""

import difflib
import unicodedata
from collections.abc import Collection

from vocboard.evaluator.names import Task
from vocboard.evaluator.problems import quoted
from vocboard.evaluator.result_files.names import FileName, expected_name
from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.tasks.definitions import TASKS

_NEAR = 0.75  # minimum similarity (0 to 1) of suggested names


class FileNames:
    """The names of an edition's result files.

    A file may be below any prefix, for example `results/VOC2010/`, and its directory (`Main/`) may be left out, except
    for label maps, whose directory identifies the competition.

    Args of the constructor:
        competitions: keys of those that examples are given of; all by default.
    """

    def __init__(self, edition: Edition, competitions: Collection[str] | None = None):
        self._examples_of = edition.competitions if competitions is None else competitions
        self._edition = edition
        self._by_name: dict[str, FileName] = {}
        self._map_directories: dict[str, tuple[Competition, str]] = {}
        for competition in edition.competitions.values():
            definition = TASKS[competition.task]
            if definition.has_file_per_image:
                directory, _, file = expected_name(competition, image="\0").rpartition("/")
                self._map_directories[_last(directory)] = competition, file.partition("\0")[2]
            elif definition.has_one_file(competition.rules):
                self._by_name[_last(expected_name(competition))] = FileName(competition)
            else:
                for label in competition.classes:
                    self._by_name[_composed(_last(expected_name(competition, label)))] = FileName(competition, label)

    def identify(self, name: str) -> FileName | None:
        """Return the target of a member; None if its name is not that of a result file."""
        directory, _, file = name.rpartition("/")
        known = self._by_name.get(_composed(file))
        if known is not None:
            return known
        maps = self._map_directories.get(_last(directory))
        if maps is None:
            return None
        competition, suffix = maps
        image = file.removesuffix(suffix)
        return FileName(competition, image=image) if image and file.endswith(suffix) else None

    def expectation(self, name: str) -> str:
        """Describe the expected names: the most similar ones, or an example for each task."""
        near = self._near(name)
        return f"the most similar is {' or '.join(near)}" if near else f"expected {self.examples()}"

    def examples(self) -> str:
        """Return one name per task, for the task's first competition."""
        first: dict[Task, Competition] = {}
        for competition in self._edition.competitions.values():
            if competition.key in self._examples_of:
                first.setdefault(competition.task, competition)
        return ", ".join(self._example(competition) for competition in first.values())

    def _near(self, name: str) -> list[str]:
        directory, _, file = name.rpartition("/")
        if file.lower().endswith(".png"):
            likely = difflib.get_close_matches(_last(directory), self._map_directories, n=2, cutoff=_NEAR)
            return [quoted(f"{known}/{file[:-4]}.png") for known in likely]
        return list(map(quoted, difflib.get_close_matches(file.lower(), self._by_name, n=3, cutoff=_NEAR)))

    @staticmethod
    def _example(competition: Competition) -> str:
        return expected_name(competition, competition.classes[0], image="<image>")


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _composed(name: str) -> str:
    """Return a name with one character for each letter with accents: macOS packs names with two."""
    return unicodedata.normalize("NFC", name)
