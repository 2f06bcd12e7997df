"""The ids and names that other tools' files have of images and categories, for converting to these tools' formats."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vocboard.evaluator.conversion.names import CategoryNames, Id, ImageNames, NamesById, image_numbers, number_of
from vocboard.evaluator.conversion.problems import ProblemCollector
from vocboard.evaluator.problems import Severity


class Known(NamedTuple):
    """An image or category of another tool: its id, and its file name or name."""

    id: Id
    name: str


@dataclass(frozen=True, slots=True)
class OtherIds:
    """Images and categories as the other tool has them.

    Attributes:
        images: by the edition's images.
        classes: by the edition's classes.
        categories: all categories in the order of their list, which may have more than the edition.
        by_position: whether images are numbered by their positions, which file names have to explain.
    """

    images: Mapping[str, Known]
    classes: Mapping[str, Known]
    categories: tuple[Known, ...]
    by_position: bool = False


def other_ids(
    images: Sequence[str],
    classes: Sequence[str],
    listed_images: NamesById | None,
    listed_categories: NamesById | None,
    *,
    first: int,
    used: Collection[str],
    problems: ProblemCollector,
) -> OtherIds:
    """Return the ids to write.

    Args:
        images: the image set.
        classes: the edition's classes.
        listed_images: file names by id; None for the digits of the images' names, or their positions.
        listed_categories: names by id; None for the edition's classes.
        first: id of the edition's first class if no categories are listed.
        used: classes that are written.
        problems: collects errors for what has no id, and warnings for what has several.
    """
    by_position = listed_images is None and any(number_of(i) != n for i, n in image_numbers(images).items())
    if listed_images is None:
        of_images = {image: Known(number, f"{image}.jpg") for image, number in image_numbers(images).items()}
    else:
        names = ImageNames(images)
        of_images = _ids(
            ((names.find(name), Known(key, name)) for key, name in listed_images.items()), "image", problems
        )
        need_ids(images, of_images, "image", "images", problems)
    if listed_categories is None:
        categories = tuple(Known(number, name) for number, name in enumerate(classes, start=first))
        return OtherIds(of_images, dict(zip(classes, categories, strict=True)), categories, by_position)
    categories = tuple(Known(key, name) for key, name in listed_categories.items())
    known = CategoryNames(tuple(classes))
    of_classes = _ids(((known.class_of(each.name), each) for each in categories), "category", problems)
    need_ids([name for name in classes if name in used], of_classes, "class", "categories", problems)
    return OtherIds(of_images, of_classes, categories, by_position)


def _ids(pairs: Iterable[tuple[str | None, Known]], noun: str, problems: ProblemCollector) -> dict[str, Known]:
    found: dict[str, Known] = {}
    for own, known in pairs:
        if own is not None and found.setdefault(own, known) != known:
            nouns = "categories" if noun == "category" else f"{noun}s"
            problems.add(
                f"several_ids_of_{noun}", f"{nouns} with several ids", "The first one is written.",
                value=own, noun="further id", severity=Severity.WARNING,
            )  # fmt: skip
    return found


def need_ids(
    wanted: Iterable[str], found: Mapping[str, Known], noun: str, option: str, problems: ProblemCollector
) -> None:
    """Add an error for each wanted image or class without an id."""
    nouns = "classes" if noun == "class" else f"{noun}s"
    for each in wanted:
        if each not in found:
            problems.add(
                f"no_id_of_{noun}", f"{nouns} that --{option} does not list",
                f"Give the file of the ground truth that the output is for, or convert without --{option}.",
                value=each, noun=noun, nouns=nouns,
            )  # fmt: skip
