"""The lists of actions in a sample tree."""

from collections.abc import Iterable, Iterator, Mapping

from vocboard.evaluator.annotations.records import ImageRecord
from vocboard.evaluator.image_sets import Key
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.image_set_files import file_of


def sample_files(edition: Edition, key: Key, records: Mapping[str, ImageRecord]) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield names and lines of the lists of an image set; the first object of each image is the person."""
    for name in edition.actions:
        flags = {image: 1 if record.objects[0].actions[name] else -1 for image, record in records.items()}
        yield file_of(edition, key, name), [f"{image} 1 {flag:2d}" for image, flag in flags.items()]
