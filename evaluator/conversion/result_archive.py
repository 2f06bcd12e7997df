"""Reads and writes archives of result files of one competition.

They are validated like uploads: what is read, before it is converted, and what is written, before it is moved to its
final name.
"""

import gzip
import io
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from vocboard.evaluator.archives import UPLOAD_LIMITS, ArchiveError, members
from vocboard.evaluator.conversion.problems import ConversionError, refused
from vocboard.evaluator.editions import Competition, Edition, Task
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.problems import Problem, has_errors
from vocboard.evaluator.reading.file_names import FileNames
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.result_files.names import FileName
from vocboard.evaluator.whole_output import whole_file

Files = Iterable[tuple[str, bytes]]  # names below `results/<edition>/`, and contents

ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".tar", ".zip")
_COMPRESSION = 6


def competition_of(edition: Edition, key: str, task: Task) -> Competition:
    """Return a competition of a task.

    Raises:
        ConversionError: the edition has no such competition; the message lists those that it has.
    """
    competition = edition.competitions.get(key)
    if competition is not None and competition.task is task:
        return competition
    held = ", ".join(each.key for each in edition.competitions.values() if each.task is task)
    found = f"{key!r} is not a {task.value} competition of {edition.name}"
    raise refused(f"not_{task.value}", found, f"It has {held or 'none'}.")


def image_set_of(competition: Competition, image_sets: ImageSets) -> ImageSet:
    """Return the images of a competition.

    Raises:
        ConversionError: the tree has no image set for its task.
    """
    image_set = image_sets.sets.get((competition.task, competition.image_set))
    if image_set is None:
        found = f"there is no image set {competition.image_set} for {competition.task.value}"
        raise refused("no_image_set", found, "Name another with --image-set.")
    return image_set


def files_of(
    path: Path, edition: Edition, competition: Competition, image_sets: ImageSets
) -> Iterator[tuple[FileName, bytes]]:
    """Yield the result files of a competition.

    Raises:
        ConversionError: the results are not valid, or there are none of the competition.
        OSError: the path cannot be read.
    """
    read = read_results(path, edition, image_sets)
    if has_errors(read.problems):
        raise ConversionError(read.problems)
    names, is_empty = FileNames(edition), True
    try:
        for member in members(path, UPLOAD_LIMITS, lambda _: None):
            name = names.identify(member.name)
            if name is not None and name.competition == competition:
                is_empty = False
                yield name, member.read()
    except ArchiveError as error:
        raise ConversionError([error.problem]) from error
    if is_empty:
        found = f"it has no result files of {competition.key}"
        raise refused("no_results", found, "Name another competition.", path.name)


def write_results(
    path: Path, edition: Edition, files: Files, image_sets: ImageSets, competitions: Iterable[str]
) -> tuple[Problem, ...]:
    """Write an archive of result files if it is valid.

    Args:
        path: file to write; its suffix determines the format (`.tar.gz`, `.tgz`, `.tar`, `.zip`).
        edition: edition of the results, which names their directory.
        files: names below `results/<edition>/`, with contents.
        image_sets: image sets of the results.
        competitions: keys of the competitions of the files.

    Returns:
        Warnings about the results.

    Raises:
        ConversionError: the results are invalid; nothing is written.
        ValueError: the suffix is not one of these.
        OSError: the archive cannot be written.
    """
    if not path.name.endswith(ARCHIVE_SUFFIXES):
        raise ValueError(f"{path.name} does not end in {', '.join(ARCHIVE_SUFFIXES)}")
    named = [(f"results/{edition.name}/{name}", content) for name, content in files]
    with whole_file(path) as unfinished:
        _write(unfinished, path.name, named)
        read = read_results(unfinished, edition, image_sets, competitions=list(competitions))
        if has_errors(read.problems):
            raise ConversionError(read.problems)
        return read.problems


def _write(path: Path, name: str, files: Iterable[tuple[str, bytes]]) -> None:
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in files:
                archive.writestr(zipfile.ZipInfo(member), content, zipfile.ZIP_DEFLATED)
        return
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for member, content in files:
            header = tarfile.TarInfo(member)
            header.size, header.mode = len(content), 0o644
            tar.addfile(header, io.BytesIO(content))
    packed.seek(0)
    with path.open("wb") as file:
        if name.endswith(".tar"):
            shutil.copyfileobj(packed, file)
        else:  # without name and time, so that equal results give equal files
            with gzip.GzipFile("", "wb", _COMPRESSION, file, mtime=0) as compressed:
                shutil.copyfileobj(packed, compressed)
