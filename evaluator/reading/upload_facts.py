"""Composition of an upload, for the headlines of its problems."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from vocboard.evaluator.editions import Competition, Edition, Training
from vocboard.evaluator.problems.headlines import Facts
from vocboard.evaluator.problems.identifiers import UnknownImages
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.names import FileName, expected_name
from vocboard.evaluator.tasks.definitions import TASKS

_TRAINING = {Training.TRAINVAL: "trainval", Training.ANY: "any data"}


def facts_of(
    edition: Edition,
    competitions: Collection[Competition],
    *,
    member_of: Mapping[FileName, str],
    repeated: Sequence[tuple[FileName, str]],
    unrecognised: Collection[str],
    file_count: int,
    items_of: Callable[[Competition], Items],
) -> Facts:
    """Gather the facts of an upload.

    Args:
        competitions: those of the challenge.
        member_of: names in the archive of the result files.
        repeated: further files with the same results.
        unrecognised: names of the other files.
        file_count: number of files in the archive.
        items_of: returns the test items of a competition, which the files were checked against.
    """
    with_maps = [one for one in competitions if TASKS[one.task].has_file_per_image]
    maps = sum(name.image is not None for name in member_of)
    unknown = UnknownImages()
    images: tuple[str, ...] = ()
    for of_task in dict.fromkeys(map(items_of, competitions)):
        unknown.add(of_task.unknown)
        if of_task.unknown.number and of_task.image_set is not None:
            images = of_task.image_set.images
    return Facts(
        edition=edition.name,
        image_set=" or ".join(dict.fromkeys(one.image_set for one in competitions)),
        images=images,
        unknown_images=unknown,
        sets_of_unknown=" or ".join(
            dict.fromkeys(one.image_set for one in competitions if items_of(one).unknown.number)
        ),
        file_count=file_count,
        result_file_count=len(member_of),
        result_folders=_folders([*member_of.items(), *repeated], edition),
        map_folders={
            expected_name(one, image="\0").rpartition("/")[0] + "/": _TRAINING[one.training]
            if len(with_maps) > 1
            else ""
            for one in with_maps
        },
        misplaced_maps=() if maps or not with_maps else _maps_among(unrecognised, map(items_of, with_maps)),
        map_count=maps,
    )


def _folders(files: Iterable[tuple[FileName, str]], edition: Edition) -> list[str]:
    """Return the folders above the tasks' folders (`Main/`) that each have all of the results.

    Of several, only the one that is named after the edition, if there is one. Empty also if a folder is in another:
    who packs the outer one packs both.
    """
    content: dict[str, set[FileName]] = {}
    for found, name in files:
        content.setdefault(_above(found, name), set()).add(found)
    everything = set().union(*content.values())
    complete = [folder for folder, names in content.items() if names == everything]
    if any(_is_within(inner, outer) for outer in complete for inner in content):
        return []
    named = [folder for folder in complete if folder.rpartition("/")[2] == edition.name]
    return named if len(named) == 1 else complete


def _is_within(inner: str, outer: str) -> bool:
    return inner != outer and (not outer or inner.startswith(f"{outer}/"))


def _above(found: FileName, name: str) -> str:
    parts = name.split("/")[:-1]
    expected = expected_name(found.competition, found.label, found.image).split("/")[:-1]
    while expected and parts and parts[-1] == expected[-1]:
        parts.pop()
        expected.pop()
    return "/".join(parts)


def _maps_among(names: Iterable[str], items: Iterable[Items]) -> list[str]:
    """Return the files that are named like label maps of test images; of any images if the test set is not known."""
    known = {image for of_task in items if of_task.image_set is not None for image in of_task.image_set.images}
    return [
        name
        for name in names
        if name.endswith(".png") and (not known or name.rpartition("/")[2].removesuffix(".png") in known)
    ]
