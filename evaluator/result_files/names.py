"""Names of result files: which competition and class, or image, a member of an archive is for."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from vocboard.evaluator.editions import Competition, Edition, Task
from vocboard.evaluator.problems import quoted
from vocboard.evaluator.tasks.definitions import TASKS

_NEAR = 0.75  # of 1: how alike a name must be to be suggested


@dataclass(frozen=True, slots=True)
class FileName:
    """What a result file is for.

    Attributes:
        label: its class or action; None for layouts and what else has all classes in one file, and for label maps.
        image: the image of a label map; None for the others.
    """

    competition: Competition
    label: str | None = None
    image: str | None = None


class FileNames:
    """The names an edition gives its result files.

    A file may be below any prefix, such as `results/VOC2010/`, and its directory (`Main/`) may be left out; only label
    maps need theirs, which names the competition.
    """

    def __init__(self, edition: Edition):
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
                    self._by_name[_last(expected_name(competition, label))] = FileName(competition, label)

    def identify(self, name: str) -> FileName | None:
        """Return what the member called `name` is for; None if that is no name of a result file."""
        directory, _, file = name.rpartition("/")
        known = self._by_name.get(file)
        if known is not None:
            return known
        maps = self._map_directories.get(_last(directory))
        if maps is None:
            return None
        competition, suffix = maps
        image = file.removesuffix(suffix)
        return FileName(competition, image=image) if image and file.endswith(suffix) else None

    def expectation(self, name: str) -> str:
        """Say which names are expected in place of `name`: those most like it, or an example for each task."""
        near = self._near(name)
        return f"the most similar is {' or '.join(near)}" if near else f"expected {self.examples()}"

    def examples(self) -> str:
        """One name for each task, of the edition's first competition in it."""
        first: dict[Task, Competition] = {}
        for competition in self._edition.competitions.values():
            first.setdefault(competition.task, competition)
        return ", ".join(self._example(competition) for competition in first.values())

    def _near(self, name: str) -> list[str]:
        directory, _, file = name.rpartition("/")
        if file.endswith(".png"):
            likely = difflib.get_close_matches(_last(directory), self._map_directories, n=2, cutoff=_NEAR)
            return [quoted(f"{known}/{file}") for known in likely]
        return list(map(quoted, difflib.get_close_matches(file.lower(), self._by_name, n=3, cutoff=_NEAR)))

    @staticmethod
    def _example(competition: Competition) -> str:
        return expected_name(competition, competition.classes[0], image="<image>")


def expected_name(competition: Competition, label: str | None = None, image: str | None = None) -> str:
    """The name of a result file below `results/<edition>/`."""
    fields: Mapping[str, str | None] = {
        "competition": competition.key,
        "image_set": competition.image_set,
        "class": label,
        "image": image,
    }
    return competition.rules.file.format_map(fields)


def _last(path: str) -> str:
    return path.rpartition("/")[2]
