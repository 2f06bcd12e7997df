"""What an upload consists of, for the headlines of its problems."""

from collections.abc import Callable, Collection, Iterable, Mapping

from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.problems.headlines import Facts
from vocboard.evaluator.problems.identifiers import UnknownImages
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.names import FileName, expected_name
from vocboard.evaluator.tasks.definitions import TASKS


def facts_of(
    edition: Edition,
    competitions: Collection[Competition],
    *,
    member_of: Mapping[FileName, str],
    unrecognised: Collection[str],
    file_count: int,
    items_of: Callable[[Competition], Items],
) -> Facts:
    """Gather the facts of an upload.

    Args:
        competitions: those of the challenge.
        member_of: names in the archive of the result files.
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
        file_count=file_count,
        result_file_count=len(member_of),
        result_folder=_common_folder(member_of),
        map_folders=[expected_name(one, image="\0").rpartition("/")[0] + "/" for one in with_maps],
        misplaced_maps=() if maps or not with_maps else _maps_among(unrecognised, map(items_of, with_maps)),
        map_count=maps,
    )


def _common_folder(member_of: Mapping[FileName, str]) -> str | None:
    """Return the folder above the tasks' folders (`Main/`); None if the result files are in several."""
    folders = {_above(found, name) for found, name in member_of.items()}
    return folders.pop() if len(folders) == 1 else None


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
