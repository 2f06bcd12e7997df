"""Converts a development kit tree to COCO's ground truth JSON: boxes, flags, parts, actions, segmentations as RLE."""

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np

from vocboard.evaluator.annotations.records import ImageRecord, ObjectRecord, read_record
from vocboard.evaluator.conversion.boxes import to_corner_and_size
from vocboard.evaluator.conversion.coco_masks import MaskedImage, MaskedObject, box_of, read_maps, to_json
from vocboard.evaluator.conversion.coco_truth import (
    LABEL_FIELD,
    ONLY_FIELD,
    VOID_FIELD,
    ConvertedTruth,
    decimals,
    listed,
    needs_xml,
)
from vocboard.evaluator.conversion.decimals import plain
from vocboard.evaluator.conversion.names import Id, NamesById
from vocboard.evaluator.conversion.other_ids import Known, need_ids, other_ids
from vocboard.evaluator.conversion.problems import ProblemCollector, refused
from vocboard.evaluator.editions import Edition, Task, image_sets_of
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.ground_truth.tree import Tree
from vocboard.evaluator.problems import Severity
from vocboard.evaluator.problems.trees import TreeProblems
from vocboard.evaluator.tasks.image_set_files import file_of
from vocboard.evaluator.tasks.instance_segmentation.ground_truth import OBJECT_MAP_FILE
from vocboard.evaluator.tasks.material import annotation_file
from vocboard.evaluator.tasks.segmentation.ground_truth import LABEL_MAP_FILE
from vocboard.evaluator.whole_output import whole_file


def tree_to_coco(
    tree: Path,
    output: Path,
    edition: Edition,
    *,
    listed_images: NamesById | None = None,
    listed_categories: NamesById | None = None,
    progress: Callable[[int], None] | None = None,
) -> ConvertedTruth:
    """Write COCO's ground truth JSON of a tree's detection image set.

    Unless `listed_images` and `listed_categories` have other ids, categories are numbered from 1 on in the edition's
    order, and images by the digits of their names if these are unique. Objects of other classes are left out, as in the
    evaluation. An object has a segmentation if its image has `SegmentationObject/` and `SegmentationClass/`; the label
    in `SegmentationObject/` is the object's number in the annotation.

    Args:
        tree: directory or archive.
        output: JSON file to write; not written if there is an error.
        edition: with the image set; see `for_image_set`.
        listed_images: file names by id, for example of the JSON from which the tree was converted.
        listed_categories: category names by id, likewise.
        progress: called with the number of images done.

    Raises:
        GroundTruthError: the tree is invalid; lists all problems.
        ConversionError: the edition's annotations are not XML, or there are none, or an image or class has no id.
        OSError: a file cannot be read or written.
    """
    needs_xml(edition)
    truth = read_ground_truth(tree, edition)
    image_set = image_sets_of(edition)[0]
    tree_problems, problems = TreeProblems(), ProblemCollector()
    key = (Task.DETECTION, image_set)
    if key not in truth.truths:
        why = truth.missing.get(key, f"{edition.name} has no detection competition")
        remedy = "COCO's JSON has the objects of Annotations/ for the images of the detection image set."
        raise refused("no_ground_truth", f"there is nothing to convert: {why}", remedy)
    images = truth.image_sets.sets[key].images
    segmented = file_of(edition, (Task.SEGMENTATION, image_set))
    files = [file.format(image) for image in images for file in (OBJECT_MAP_FILE, LABEL_MAP_FILE)]
    contents = Tree(tree, edition.name, tree_problems).read(
        [segmented, *(annotation_file(image, edition) for image in images), *files]
    )
    tree_problems.raise_if_any()
    records = {image: read_record(contents[annotation_file(image, edition)]) for image in images}
    used = {each.name for record in records.values() for each in record.objects}
    ids = other_ids(images, edition.classes, listed_images, listed_categories, first=1, used=used, problems=problems)
    problems.raise_if_errors()
    image_rows: list[str] = []
    rows: list[str] = []
    segmentations = 0
    for image, record in records.items():
        masked = _masks(image, contents, len(edition.classes), tree_problems, problems)
        image_rows.append(_image(ids.images[image], record, masked))
        of_object = {} if masked is None else _by_object(masked, record, edition)
        segmentations += 0 if masked is None else len(masked.objects)
        for place, each in enumerate(record.objects):
            if each.name in edition.classes:
                known = ids.images[image].id, ids.classes[each.name].id
                rows.append(_annotation(len(rows) + 1, *known, each, of_object.get(place)))
            else:
                remedy = "Objects of these are left out."
                problems.add("left_out_category", "classes that the edition does not have", remedy,
                             value=each.name, noun="object", severity=Severity.WARNING)  # fmt: skip
        taken = {each.label for each in of_object.values()}
        for only in () if masked is None else (each for each in masked.objects if each.label not in taken):
            name = edition.classes[only.class_label - 1]
            need_ids([name], ids.classes, "class", "categories", problems)
            if name in ids.classes:
                rows.append(_segmentation_only(len(rows) + 1, ids.images[image].id, ids.classes[name].id, only))
        if progress is not None:
            progress(1)
    tree_problems.raise_if_any()
    problems.raise_if_errors()
    _note_images(contents.get(segmented, b""), set(images), problems)
    category_rows = [f'{{"id":{json.dumps(each.id)},"name":{json.dumps(each.name)}}}' for each in ids.categories]
    info = f'"info":{{"description":{json.dumps(f"{edition.title}, {image_set}")}}}'
    parts = [info, *(f'"{name}":[\n' + ",\n".join(lines) + "]" for name, lines in (
        ("images", image_rows), ("annotations", rows), ("categories", category_rows)))]  # fmt: skip
    with whole_file(output) as unfinished:
        unfinished.write_text("{" + ",\n".join(parts) + "}\n")
    return ConvertedTruth(len(rows), segmentations, problems.problems())


def _masks(
    image: str, contents: Mapping[str, bytes], classes: int, tree_problems: TreeProblems, problems: ProblemCollector
) -> MaskedImage | None:
    """Return the label maps of an image; None if it does not have both, with a warning if that loses pixels."""
    object_file, class_file = OBJECT_MAP_FILE.format(image), LABEL_MAP_FILE.format(image)
    if class_file not in contents:
        return None
    if object_file not in contents:
        problems.add(
            "no_object_map", "images with SegmentationClass/<image>.png but without SegmentationObject/<image>.png",
            "Their objects get boxes without segmentation, because COCO needs to know which pixels belong to each "
            "object. Add SegmentationObject/ to the tree (the VOC archives have it), and convert again.",
            value=image, noun="image", severity=Severity.WARNING,
        )  # fmt: skip
        return None
    masked = read_maps(contents[object_file], contents[class_file], classes)
    if isinstance(masked, str):
        tree_problems.add("bad_label_map", masked, object_file)
        return None
    if masked.unclear:
        problems.add(
            "unclear_pixels", "label maps with pixels of a class but of no object, or of an object of several classes",
            "These pixels are left out.", value=image, noun="label map", severity=Severity.WARNING,
        )  # fmt: skip
    return masked


def _by_object(masked: MaskedImage, record: ImageRecord, edition: Edition) -> dict[int, MaskedObject]:
    """Return masks by object index. A label is the object's number in the annotation if the classes agree."""
    return {
        each.label - 1: each
        for each in masked.objects
        if each.label <= len(record.objects)
        and record.objects[each.label - 1].name == edition.classes[each.class_label - 1]
    }


def _note_images(content: bytes, images: Collection[str], problems: ProblemCollector) -> None:
    for line in content.decode("utf-8", "replace").splitlines():
        if line.split() and line.split()[0] not in images:
            problems.add(
                "left_out_image", "segmented images that the detection image set does not have",
                "They are left out: the JSON has the images of the detection image set.",
                value=line.split()[0], noun="image", severity=Severity.WARNING,
            )  # fmt: skip


def _image(known: Known, record: ImageRecord, masked: MaskedImage | None) -> str:
    fields = [f'"id":{json.dumps(known.id)}', f'"file_name":{json.dumps(known.name)}']
    size = record.size if masked is None else masked.void.shape[::-1]
    if size:
        fields.append(f'"width":{size[0]},"height":{size[1]}')
    if masked is not None:
        fields.append(f'"{VOID_FIELD}":{to_json(masked.void)}')
    return "{" + ",".join(fields) + "}"


def _annotation(number: int, image: Id, category: Id, record: ObjectRecord, masked: MaskedObject | None) -> str:
    box = decimals(record.box)
    corner = to_corner_and_size(box)
    difficult = record.flags.get("difficult", False)
    fields = [
        f'"id":{number}',
        f'"image_id":{json.dumps(image)}',
        f'"category_id":{json.dumps(category)}',
        f'"bbox":{listed(corner)}',
        f'"area":{plain(corner[2] * corner[3]) if masked is None else np.count_nonzero(masked.mask)}',
        f'"iscrowd":{int(difficult)}',
        *(f'"{name}":{int(flag)}' for name, flag in record.flags.items()),
    ]
    if masked is not None:
        fields += [f'"segmentation":{to_json(masked.mask)}', f'"{LABEL_FIELD}":{masked.label}']
    if record.view:
        fields.append(f'"view":{json.dumps(record.view)}')
    if record.point:
        fields.append('"point":1')
    if record.parts:
        parts = (
            f'{{"name":{json.dumps(p.name)},"bbox":{listed(to_corner_and_size(decimals(p.box)))}'
            + (',"point":1}' if p.point else "}")
            for p in record.parts
        )
        fields.append(f'"parts":[{",".join(parts)}]')
    if record.actions:
        fields.append(f'"actions":{json.dumps({name: int(flag) for name, flag in record.actions.items()})}')
    return "{" + ",".join(fields) + "}"


def _segmentation_only(number: int, image: Id, category: Id, masked: MaskedObject) -> str:
    """Return the annotation of an object that only the label maps have."""
    left, top, right, bottom = map(str, box_of(masked.mask))
    box = listed(to_corner_and_size(decimals((left, top, right, bottom))))
    return (
        f'{{"id":{number},"image_id":{json.dumps(image)},"category_id":{json.dumps(category)},"bbox":{box},'
        f'"area":{np.count_nonzero(masked.mask)},"iscrowd":0,"segmentation":{to_json(masked.mask)},'
        f'"{LABEL_FIELD}":{masked.label},"{ONLY_FIELD}":1}}'
    )
