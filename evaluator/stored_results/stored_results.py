"""The results of one upload in a file of columns.

Columns name images and people by their place in the image sets that they were read against, and are what one version of
the readers has made of an archive. So a file says which these were, and is good for them alone; otherwise the archive
has to be read again.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator import extensions
from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.names import Task
from vocboard.evaluator.results import Entry, Results, Segmented
from vocboard.evaluator.stored_results.columns_file import ColumnsError, ColumnsFile, ColumnsWriter
from vocboard.evaluator.stored_results.reader_version import READER_VERSION
from vocboard.evaluator.tasks.content_columns import Below, ContentColumns, Known
from vocboard.evaluator.tasks.definitions import name_lists
from vocboard.evaluator.tasks.parts import task_parts

_COLUMNS: Mapping[Task, ContentColumns] = task_parts("columns", ContentColumns)


class ResultsWriter:
    """Stores what is read of one upload, against these image sets, while it is read.

    Args of the constructor:
        write: takes bytes, in the order of the file.
        limit: bytes of the whole file.
    """

    def __init__(
        self, write: Callable[[bytes], object], edition: Edition, image_sets: ImageSets, *, limit: int
    ) -> None:
        self._columns = ColumnsWriter(write, limit=limit)
        self._edition, self._image_sets = edition, image_sets

    def add_label_map(self, competition: Competition, image: int, label_map: NDArray[np.uint8]) -> Callable[[], object]:
        """Compress a label map, in any thread, and return what stores it: a `SegmentationSink` for reading.

        Reading calls it in the order of the files, so that an archive always has the same columns.
        """
        return self._columns.prepare(_map_name(competition, image), label_map)

    def finish(self, results: Results) -> bool:
        """Store everything else; whether the file is complete, because it is within its limit."""
        for key, entry in results.items():
            for name, array in _COLUMNS[entry.competition.task].arrays(entry).items():
                self._columns.add(f"{key}/{name}", array)
        entries = [[key, list(entry.classes)] for key, entry in results.items()]
        read_against = digest(self._edition, self._image_sets, list(results))
        header = {"reader": READER_VERSION, "read_against": read_against, "entries": entries}
        self._columns.finish(header)
        return self._columns.is_complete


class StoredResults:
    """Reads and checks what `ResultsWriter` has stored.

    Attributes:
        results: as `read_results` returns them; their label maps are given by `label_maps`.
    """

    results: Results

    def __init__(
        self, file: BinaryIO, edition: Edition, image_sets: ImageSets, *, classes: Collection[str] | None = None
    ) -> None:
        """Read everything but label maps.

        Args:
            file: stays open as long as label maps are read.
            edition: the edition, whose rules apply.
            image_sets: what scoring will compare with.
            classes: declared by the participant for segmentation; None for all.

        Raises:
            ColumnsError: the file is damaged, another reader's, or was read against another edition or image sets.
        """
        self._file = ColumnsFile(file)
        self._image_sets = image_sets
        try:
            header = self._file.header
            if header["reader"] != READER_VERSION:
                raise ColumnsError(f"columns of reader {header['reader']!r}, this one is {READER_VERSION}")
            keys = [key for key, _ in header["entries"]]
            if header["read_against"] != digest(edition, image_sets, keys):
                raise ColumnsError("columns that were read against another edition or other image sets")
            self.results = {key: self._entry(key, found, edition, classes) for key, found in header["entries"]}
        except (ValueError, LookupError, TypeError) as error:
            raise ColumnsError(f"columns that no reader makes: {error}") from error
        if len(self.results) != len(header["entries"]):
            raise ColumnsError("columns with a competition twice")

    def label_maps(self) -> Iterator[tuple[Competition, int, NDArray[np.uint8]]]:
        """Yield each label map: its competition, the index of its image, and (height, width) uint8 class indices.

        Raises:
            ColumnsError: a map is missing or damaged, or has another size or labels than it may.
        """
        for entry in self.results.values():
            if isinstance(entry.content, Segmented):
                competition = entry.competition
                image_set = self._image_set(competition)
                if image_set is None or image_set.sizes is None:
                    continue  # nothing to compare with
                for image in entry.content.images.tolist():
                    yield competition, image, self.label_map(competition, image, image_set.sizes[image].tolist())

    def label_map(self, competition: Competition, image: int, size: tuple[int, int]) -> NDArray[np.uint8]:
        """Return a label map, (height, width) uint8 class indices.

        Args:
            image: index of the image.
            size: its width and height.

        Raises:
            ColumnsError: it is missing or damaged, or has another size or labels than it may.
        """
        label_map = self._file.label_map(_map_name(competition, image), (size[1], size[0]))
        if label_map.max(initial=0) > len(competition.classes):
            raise ColumnsError("a label map has a label that is not a class")
        return label_map

    def _entry(self, key: str, classes: Any, edition: Edition, declared: Collection[str] | None) -> Entry:
        competition = edition.competitions[key]
        entered = tuple(name for name in competition.classes if name in classes)
        if list(entered) != classes:
            raise ValueError(f"{key}: its classes are not the edition's, in their order")
        known = Known(competition, edition, self._image_set(competition))
        content = _COLUMNS[competition.task].content(entered, Below(self._file, f"{key}/"), known)
        if isinstance(content, Segmented) and set(declared or competition.classes) != set(entered):
            raise ValueError(f"{key}: its classes are not those declared")
        return Entry(competition, entered, content)

    def _image_set(self, competition: Competition) -> ImageSet | None:
        return self._image_sets.sets.get((competition.task, competition.image_set))


def digest(edition: Edition, image_sets: ImageSets, competitions: Collection[str]) -> str:
    """Return a hexadecimal SHA-256 of everything that the meaning of columns depends on, except the files.

    Rules that only scores depend on, such as the metric or the overlap, are left out: the same columns can be scored by
    other rules. So are limits, which an upload has to keep once.

    Args:
        competitions: keys of those that the columns are of.

    Raises:
        KeyError: the edition does not have one of them.
    """
    first = ("parts", "actions")
    # Lists that came later, only where they are not empty: digests of editions without them have to stay.
    later = [(key, names) for key in name_lists() if key not in first and (names := getattr(edition, key))]
    rules = [(edition.name, edition.classes, edition.parts, edition.actions, *later)]
    return _digest([repr(rules), *(repr(_read_by(edition.competitions[key])) for key in competitions)], image_sets)


def _read_by(competition: Competition) -> tuple[object, ...]:
    protocol = competition.rules.layout_protocol
    version = extensions.used_by({competition.task})  # empty for built-in tasks, whose digests have to stay
    return competition.key, competition.task.value, competition.image_set, competition.classes, str(protocol), *version


def _digest(rules: Sequence[str], image_sets: ImageSets) -> str:
    parts = [text.encode() for text in rules]
    for (task, name), image_set in sorted(image_sets.sets.items()):
        parts += [task.encode(), name.encode(), "\n".join(image_set.images).encode()]
        for numbers in (image_set.sizes, image_set.persons):
            parts.append(b"" if numbers is None else f"{numbers.shape}".encode() + numbers.astype("<i4").tobytes())
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def _map_name(competition: Competition, image: int) -> str:
    return f"{competition.key}/map/{image}"
