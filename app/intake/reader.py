"""Reads one upload, in a separate process. Imports only what that process needs."""

from collections.abc import Callable, Collection, Sequence
from typing import BinaryIO

from vocboard.app.intake.report import EnteredCompetition, Report
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.reading import read_results
from vocboard.evaluator.stored_results.stored_results import ResultsWriter


def check(  # noqa: PLR0917  # requests pass arguments by position
    upload: BinaryIO,
    edition: Edition,
    image_sets: ImageSets,
    competitions: Collection[str],
    segmentation_classes: Sequence[str] | None,
    columns_limit_bytes: int,
    send_columns: Callable[[bytes], object],
) -> Report:
    """Read an upload completely, report its problems, and send the results as a columns file.

    Args:
        upload: open at its start.
        competitions: keys of the challenge's competitions.
        segmentation_classes: classes declared by the participant; None for all.
        columns_limit_bytes: maximum size of the columns file; sending stops at this size.
        send_columns: called with each chunk of the file.

    Raises:
        MemoryError: reading needs more memory.
    """
    writer = ResultsWriter(send_columns, edition, image_sets, limit=columns_limit_bytes)
    read = read_results(
        upload,
        edition,
        image_sets,
        competitions=competitions,
        segmentation_classes=segmentation_classes,
        segmentation_sink=writer.add_label_map,
    )
    entered = {key: tuple(entry.classes) for key, entry in read.results.items()} if read.is_valid else read.entered
    entries = tuple(EnteredCompetition(key, classes) for key, classes in entered.items())
    has_columns = read.is_valid and writer.finish(read.results)
    return Report(read.problems, entries, has_columns=has_columns, groups=read.groups, doubtful=read.doubtful)
