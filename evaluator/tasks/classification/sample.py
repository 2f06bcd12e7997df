"""The lists of classes in a sample tree."""

from collections.abc import Iterable, Iterator, Mapping

from vocboard.evaluator.annotations.records import ImageRecord
from vocboard.evaluator.image_sets import Key
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.image_set_files import file_of


def sample_files(edition: Edition, key: Key, records: Mapping[str, ImageRecord]) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield names and lines of the lists of an image set, from the annotations of its images."""
    for name in edition.classes:
        yield file_of(edition, key, name), [f"{image} {_label(record, name):2d}" for image, record in records.items()]


def _label(record: ImageRecord, name: str) -> int:
    difficult = [each.flags["difficult"] for each in record.objects if each.name == name]
    return (0 if all(difficult) else 1) if difficult else -1
