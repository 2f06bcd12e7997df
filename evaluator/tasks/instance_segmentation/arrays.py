"""Instances in memory: masks with scores, by class, by image, or in one table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.arrays.content import ArrayReader, Arrays
from vocboard.evaluator.arrays.instances import check_number, note_empty_classes, read_instances
from vocboard.evaluator.arrays.values import Values
from vocboard.evaluator.problems import counted
from vocboard.evaluator.results import Entry
from vocboard.evaluator.tasks.instance_segmentation.results import Regions

_Region = tuple[int, float, NDArray[np.int64]]  # image, score, (k, 2) runs


class InstanceSegmentationArrays(ArrayReader):
    """`masks`, (height, width) booleans each, and `scores`; otherwise like detections."""

    def read(self, content: object, arrays: Arrays) -> Entry | None:
        """Return the regions by class, in the given order."""
        classes = arrays.competition.classes
        taken: dict[str, list[_Region]] = {}
        for names, instances in read_instances(content, "masks", _read_masks, arrays):
            for name in names:
                taken.setdefault(name, [])
            for index, region in enumerate(instances.shape):
                name = names[0] if instances.classes is None else classes[instances.classes[index]]
                taken[name].append((int(instances.image[index]), float(instances.score[index]), region))
        found = {name: _columns(taken[name]) for name in classes if name in taken}
        for name, regions in found.items():
            check_number(name, regions.image, arrays)
        note_empty_classes({name: len(each.image) for name, each in found.items()}, arrays)
        return Entry(arrays.competition, tuple(found), found) if found else None


def _read_masks(
    value: object, images: NDArray[np.int32] | None, length: int | None, arrays: Arrays, values: Values
) -> list[NDArray[np.int64]] | None:
    """Return the runs of each mask as (first pixel, pixel after the last), in column order."""
    is_sequence = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    masks: Any = value if is_sequence else values.array(value, "masks")
    if masks is None:
        return None
    if not is_sequence and masks.ndim == 0:
        values.wrong_structure(value, "a list of masks")
        return None
    is_one_each = length is None or len(masks) == length
    if not is_one_each:
        values.wrong_structure(value, f"{counted(length or 0, 'mask')}, one for each score")
    placed = images if images is not None and len(images) == len(masks) else None
    found: list[NDArray[np.int64]] = []
    for index, mask in enumerate(masks):
        name, size = f"masks[{index}]", None if placed is None else arrays.items.size_of(int(placed[index]))
        array = values.array(mask, name)
        if array is None:
            continue
        if array.ndim != 2:
            values.report.add(kinds.WRONG_SHAPE, name=name, found=array.shape, expected="(height, width)")
        elif array.dtype.kind != "b" and not (array.dtype.kind in "iu" and np.isin(array, (0, 1)).all()):
            expected = "booleans, or 0 and 1; of probabilities, those above a threshold"
            values.report.add(kinds.WRONG_TYPE, name=name, found=array.dtype.name, expected=expected)
        elif size is not None and array.shape != size[::-1]:
            values.report.add(
                kinds.WRONG_MAP_SIZE,
                name=name, found_width=array.shape[1], found_height=array.shape[0], width=size[0], height=size[1],
            )  # fmt: skip
        else:
            inside = np.concatenate([[False], array.astype(np.bool_).T.ravel(), [False]])
            found.append(np.flatnonzero(inside[1:] != inside[:-1]).reshape(-1, 2).astype(np.int64))
    if len(found) < len(masks) or not is_one_each:
        return None
    empty = [index for index, runs in enumerate(found) if not len(runs)]
    if empty:
        values.report.add(kinds.EMPTY_REGIONS, count=counted(len(empty), "mask"), first=empty[0])
    return found


def _columns(regions: list[_Region]) -> Regions:
    edges = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(runs for _, _, runs in regions)])
    return Regions(
        image=np.array([image for image, _, _ in regions], dtype=np.int32),
        confidence=np.array([score for _, score, _ in regions], dtype=np.float64),
        run_start=edges[:, 0].copy(),
        run_stop=edges[:, 1].copy(),
        run_end=np.cumsum([len(runs) for _, _, runs in regions], dtype=np.int64),
    )
