"""Arguments of the public functions: editions by name, file or object; trees and image sets by path or object."""

import os
from pathlib import Path

from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition, for_image_set, image_sets_of
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.ground_truth.reader import read_ground_truth as read_tree
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.public_tree import read_image_sets as read_public_part

EDITION_FILE_SUFFIX = ".toml"

AnyPath = str | os.PathLike[str]
AnyEdition = Edition | AnyPath


def load_edition(name_or_file: AnyEdition) -> Edition:
    """Return an edition: its classes, competitions, file names and rules.

    Args:
        name_or_file: a name such as `"VOC2007"`, or the path of an edition file, which ends in `.toml`.

    Raises:
        UnknownEditionError: there is no edition of this name; a `LookupError`.
        EditionFileError: the file is invalid; lists all errors.
        OSError: the file cannot be read.

    >>> load_edition("VOC2007").classes[:3]
    ('aeroplane', 'bicycle', 'bird')
    """
    if isinstance(name_or_file, Edition):
        return name_or_file
    text = os.fspath(name_or_file)
    return editions.read(Path(text)) if text.endswith(EDITION_FILE_SUFFIX) else editions.load(text)


def read_ground_truth(tree: AnyPath, edition: AnyEdition, image_set: str | None = None) -> GroundTruth:
    """Read the ground truth of a development kit tree.

    Args:
        tree: directory or archive. The folder `VOC<year>/` is at the top, below `VOCdevkit/`, or is the tree itself.
        edition: name, file or object.
        image_set: for example `"val"`. Default: the edition's, which is `test` (in VOC2005 `test1` and `test2`).

    Raises:
        GroundTruthError: the tree is invalid; lists all problems.
        OSError: it cannot be read.
    """
    return read_tree(Path(tree), of_image_set(load_edition(edition), image_set))


def read_image_sets(tree_or_file: AnyPath, edition: AnyEdition, image_set: str | None = None) -> ImageSets:
    """Read the public part of a test set: images, their sizes, and people. Needs no annotations.

    Args:
        tree_or_file: development kit tree, or a server's image sets (JSON).
        edition: name, file or object.
        image_set: as in `read_ground_truth`.

    Raises:
        GroundTruthError: the tree has no such image set, or is invalid.
        ImageSetsFormatError: the JSON has another format; a `ValueError`.
        ValueError: the JSON is of another edition or image set.
        OSError: it cannot be read.
    """
    path, wanted = Path(tree_or_file), of_image_set(load_edition(edition), image_set)
    if path.suffix == ".json":
        found = ImageSets.from_json(path.read_bytes())
        matching(wanted, found)
        if image_set is not None and not any(name == image_set for _, name in found.sets):
            raise ValueError(f"{path} has no image set {image_set!r}")
        return found
    return read_public_part(path, wanted)


def of_image_set(edition: Edition, image_set: str | None) -> Edition:
    """Return the edition for an image set; None for the edition's own."""
    return edition if image_set is None else for_image_set(edition, image_set)


def matching(edition: Edition, image_sets: ImageSets) -> Edition:
    """Return the edition for the image set of given image sets or ground truth.

    Raises:
        ValueError: they belong to another edition, or to several image sets that the edition does not have.
    """
    if image_sets.edition != edition.name:
        raise ValueError(f"the ground truth or image sets are of {image_sets.edition}, the edition is {edition.name}")
    names = tuple(dict.fromkeys(name for _, name in image_sets.sets))
    if set(names) & set(image_sets_of(edition)):
        return edition
    if len(names) != 1:
        raise ValueError(f"{edition.name} has no image sets {', '.join(names)}")
    return for_image_set(edition, names[0])
