"""Shared code of the offline commands: arguments, and what they read."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vocboard.client.errors import MisuseError
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition, EditionFileError, UnknownEditionError, for_image_set, image_sets_of
from vocboard.evaluator.image_sets import ImageSets, ImageSetsFormatError

if TYPE_CHECKING:
    from vocboard.evaluator.ground_truth import GroundTruth, GroundTruthError

EDITION_FILE_SUFFIX = ".toml"
_IMAGE_SET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,29}")


def add_common_arguments(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the arguments that `validate` and `evaluate` share.

    Args:
        parser: the command's parser.
        several: whether the command accepts the results of several methods, as a list of texts; see `named_paths`.
    """
    known = ", ".join(editions.names())
    parser.add_argument(
        "edition", metavar="EDITION", help=f"one of {known}; or an edition file, for example roads.toml"
    )
    what = "archive or directory of result files"
    if several:
        more = f"{what}; several, each of a method that is named after the file, or NAME=PATH, are compared"
        parser.add_argument("results", metavar="RESULTS", nargs="+", help=more)
    else:
        parser.add_argument("results", metavar="RESULTS", type=Path, help=what)
    parser.add_argument(
        "--segmentation-classes",
        metavar="CLASSES",
        help="classes entered for segmentation, separated by commas (default: all)",
    )


def named_paths(given: Sequence[str]) -> dict[str, Path]:
    """Return the paths of several methods' results by the names of the methods: NAME=PATH, or the file's name.

    What exists is a path, such as `lr=0.1/results.tar.gz`.

    Raises:
        MisuseError: two methods have the same name.
    """
    paths: dict[str, Path] = {}
    for text in given:
        name, separator, path = text.partition("=")
        if not separator or Path(text).exists():
            name, path = Path(text).name.partition(".")[0], text
        if name in paths:
            raise MisuseError(f"two methods are named {name!r}; give NAME=PATH")
        paths[name] = Path(path)
    return paths


def add_image_set_argument(
    parser: argparse.ArgumentParser, use: str, *, several: bool = True, default: str = "the edition's"
) -> None:
    """Add the option --image-set.

    Args:
        parser: the command's parser.
        use: what the command does with the image set, for the help.
        several: whether the command accepts more than one.
        default: what it uses without the option.
    """
    more = "; separate several with commas" if several else ""
    parser.add_argument(
        "--image-set",
        metavar="NAME",
        action="append",
        help=f"image set {use}, for example val{more} (default: {default})",
    )


def editions_of_image_sets(edition: Edition, names: Sequence[str] | None) -> Mapping[str | None, Edition]:
    """Return the edition for each image set named on the command line; only the original, under None, if none is named.

    Raises:
        MisuseError: a name is not a valid image set name.
    """
    if not names:
        return {None: edition}
    listed = [name.strip() for given in names for name in given.split(",")]
    wrong = next((name for name in listed if not _IMAGE_SET.fullmatch(name)), None)
    if wrong is not None:
        raise MisuseError(
            f"{wrong!r} is not a valid image set name; the development kits have train, val, trainval and test"
        )
    return {name: for_image_set(edition, name) for name in dict.fromkeys(listed)}


def others(chosen: Mapping[str | None, Edition], name: str | None) -> list[Edition]:
    """Return the editions of all image sets but one, whose result files the evaluation of that one ignores."""
    return [edition for other, edition in chosen.items() if other != name]


def chosen_edition(name: str) -> Edition:
    """Return the edition of that name, or of the edition file at that path.

    Raises:
        MisuseError: there is no such edition, or the file is invalid; the message lists all its errors.
        OSError: the file cannot be read.
    """
    try:
        return editions.read(Path(name)) if name.endswith(EDITION_FILE_SUFFIX) else editions.load(name)
    except EditionFileError as error:
        raise MisuseError(f"{name} is not a valid edition file\n{error}") from error
    except UnknownEditionError as error:
        raise MisuseError(f"{error} Names of edition files end in {EDITION_FILE_SUFFIX}.") from error


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


def read_public_part(path: Path, edition: Edition, progress: Callable[[int], None] | None = None) -> ImageSets:
    """Return image sets from a development kit tree, or from a server's JSON.

    Raises:
        MisuseError: the path is neither, or belongs to another edition.
        OSError: the path cannot be read.
    """
    if path.is_file() and _looks_like_json(path):
        try:
            image_sets = ImageSets.from_json(path.read_bytes())
        except ImageSetsFormatError as error:
            raise MisuseError(f"{path}: {error}") from error
        if image_sets.edition != edition.name:
            raise MisuseError(f"{path} has the image sets of {image_sets.edition}, not of {edition.name}")
        wanted = image_sets_of(edition)
        if not any(name in wanted for _, name in image_sets.sets):
            has = ", ".join(dict.fromkeys(name for _, name in image_sets.sets))
            raise MisuseError(f"{path} has no image set {' or '.join(wanted)}; it has {has}")
        return image_sets
    from vocboard.evaluator.ground_truth import GroundTruthError  # noqa: PLC0415  # not needed for JSON
    from vocboard.evaluator.public_tree import read_image_sets  # noqa: PLC0415

    try:
        return read_image_sets(path, edition, progress=progress)
    except GroundTruthError as error:
        raise tree_misuse(path, edition, error) from error


def read_truth(path: Path, edition: Edition, progress: Callable[[int], None] | None = None) -> "GroundTruth":
    """Return the ground truth of a development kit tree.

    Raises:
        MisuseError: the tree is invalid; the message lists all problems, and the image sets that it has.
        OSError: the path cannot be read.
    """
    from vocboard.evaluator.ground_truth import GroundTruthError  # noqa: PLC0415  # as above
    from vocboard.evaluator.ground_truth.reader import read_ground_truth  # noqa: PLC0415  # as above

    try:
        return read_ground_truth(path, edition, progress=progress)
    except GroundTruthError as error:
        raise tree_misuse(path, edition, error) from error


def tree_misuse(path: Path, edition: Edition, error: "GroundTruthError") -> MisuseError:
    """Return the error for an invalid tree; if the image set is missing, it names those that the tree has."""
    from vocboard.evaluator.ground_truth.available_sets import (  # noqa: PLC0415  # as above
        available_image_sets,
        describe_image_sets,
    )
    from vocboard.evaluator.ground_truth.edition_of_tree import editions_of_tree  # noqa: PLC0415  # as above

    message = f"{path}: {error}"
    if any(problem.code == "no_image_sets" for problem in error.problems):
        named = editions_of_tree(path)
        if named and edition.name not in named:
            message = f"{path}: this is a tree of {', '.join(named)}, not of {edition.name}"
        else:
            described = describe_image_sets(available_image_sets(path, edition))
            message += f"\n{described}".replace("\nit has", "\nIt has")
    return MisuseError(message)


def _looks_like_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16).lstrip().startswith(b"{")
