"""What the commands that need no server share: their arguments, and how trouble becomes an exit status.

Exit statuses: 0 valid; 1 the results have problems; 2 the command cannot be done as it was given.
"""

import argparse
import functools
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evaluator import editions
from evaluator.editions import Edition, EditionFileError, UnknownEditionError
from evaluator.image_sets import ImageSets, ImageSetsFormatError

VALID, PROBLEMS, MISUSE = 0, 1, 2
EDITION_FILE_SUFFIX = ".toml"

Run = Callable[[argparse.Namespace], int]


class MisuseError(Exception):
    """An argument cannot be used; the message says why."""


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    """Add edition, results and the rest that `validate` and `evaluate` have in common."""
    known = ", ".join(editions.names())
    parser.add_argument("edition", metavar="EDITION", help=f"one of {known}; or an edition file, such as roads.toml")
    parser.add_argument("results", metavar="RESULTS", type=Path, help="archive or directory of result files")
    parser.add_argument(
        "--segmentation-classes",
        metavar="CLASSES",
        help="classes entered for segmentation, divided by commas (default: all)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def chosen_edition(name: str) -> Edition:
    """Return the edition of that name, or of the edition file at that path.

    Raises:
        MisuseError: there is none, or the file is wrong: with all its mistakes.
        OSError: the file cannot be read.
    """
    try:
        return editions.read(Path(name)) if name.endswith(EDITION_FILE_SUFFIX) else editions.load(name)
    except EditionFileError as error:
        raise MisuseError(f"{name} is no edition file\n{error}") from error
    except UnknownEditionError as error:
        raise MisuseError(f"{error} A file's name ends in {EDITION_FILE_SUFFIX}.") from error


def chosen_classes(text: str | None, edition: Edition) -> Sequence[str] | None:
    """Return the segmentation classes named on the command line; None for all.

    Raises:
        MisuseError: the edition has no such class.
    """
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in edition.classes]
    if unknown:
        raise MisuseError(f"{edition.name} has no class {unknown[0]!r}; it has {', '.join(edition.classes)}")
    return names


def read_public_part(path: Path, edition: Edition) -> ImageSets:
    """Return image sets from a development kit tree, or from the JSON that a server hands out.

    Raises:
        MisuseError: it is neither, or of another edition.
        OSError: the path cannot be read.
    """
    if path.is_file() and _looks_like_json(path):
        try:
            image_sets = ImageSets.from_json(path.read_bytes())
        except ImageSetsFormatError as error:
            raise MisuseError(f"{path}: {error}") from error
        if image_sets.edition != edition.name:
            raise MisuseError(f"{path} has the image sets of {image_sets.edition}, not of {edition.name}")
        return image_sets
    from evaluator.ground_truth import GroundTruthError  # noqa: PLC0415  # a tree needs more than its JSON
    from evaluator.public_tree import read_image_sets  # noqa: PLC0415

    try:
        return read_image_sets(path, edition)
    except GroundTruthError as error:
        raise MisuseError(f"{path}: {error}") from error


def print_json(content: Any) -> None:
    """Print a JSON document; undefined numbers must be null already."""
    print(json.dumps(content, indent=2, allow_nan=False))


def reporting_misuse(run: Run) -> Run:
    """Make a command tell what is wrong with its arguments on standard error, and return the exit status for it."""

    @functools.wraps(run)
    def reporting(arguments: argparse.Namespace) -> int:
        try:
            status = run(arguments)
            sys.stdout.flush()
            return status
        except MisuseError as error:
            print(f"vocboard: {error}", file=sys.stderr)
        except BrokenPipeError:
            # Whoever was reading has enough; keep Python from complaining about it on its way out.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            if error.filename is None:
                raise
            print(f"vocboard: {error.filename}: {error.strerror}", file=sys.stderr)
        return MISUSE

    return reporting


def _looks_like_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16).lstrip().startswith(b"{")
