"""Reading one upload, in a process of its own. Imports nothing that such a process does not need."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from vocboard.app.isolation.process_limits import limit_memory, step_back
from vocboard.app.submissions.report import EnteredCompetition, Report
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.reading import read_results
from vocboard.evaluator.stored_results.stored_results import ResultsWriter


def get_ready() -> None:
    """Import what reading needs and has not imported: this module's imports have been made for calling this."""
    import pyarrow.compute  # noqa: PLC0415
    import pyarrow.csv  # noqa: F401, PLC0415


def check(  # noqa: PLR0917  # requests carry arguments by position
    path: Path,
    edition: Edition,
    image_sets: ImageSets,
    competitions: Collection[str],
    segmentation_classes: Sequence[str] | None,
    memory_limit_bytes: int,
    columns_limit_bytes: int,
    send_columns: Callable[[bytes], object],
) -> Report:
    """Read an upload completely, report on it, and send what was read as a file of columns.

    Args:
        competitions: keys of those that the challenge runs.
        segmentation_classes: declared by the participant; None for all.
        memory_limit_bytes: for the address space of this process from now on.
        columns_limit_bytes: of the whole file; larger ones are not sent to their end.
        send_columns: takes the file piece by piece.

    Raises:
        MemoryError: reading takes more than that.
    """
    step_back()
    limit_memory(memory_limit_bytes)
    writer = ResultsWriter(send_columns, edition, image_sets, limit=columns_limit_bytes)
    read = read_results(
        path,
        edition,
        image_sets,
        competitions=competitions,
        segmentation_classes=segmentation_classes,
        segmentation_sink=writer.add_label_map,
    )
    entries = tuple(EnteredCompetition(key, tuple(entry.classes)) for key, entry in read.results.items())
    return Report(read.problems, entries, has_columns=read.is_valid and writer.finish(read.results))
