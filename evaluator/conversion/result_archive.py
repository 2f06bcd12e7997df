"""Writes archives of result files. They are validated like uploads before they are moved to their final name."""

import gzip
import io
import shutil
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from vocboard.evaluator.conversion.problems import ConversionError
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import Problem, has_errors
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.whole_output import whole_file

Files = Iterable[tuple[str, bytes]]  # names below `results/<edition>/`, and contents

ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".tar", ".zip")
_COMPRESSION = 6


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
