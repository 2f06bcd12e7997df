"""Ground truth trees to COCO's JSON and back: boxes, views, flags, parts and actions, but no segmentations.

Beside COCO's own fields an annotation keeps what COCO has no field for (`difficult`, `truncated`, `occluded`, `view`,
`parts`, `actions`), so that a tree comes back as it was. Difficult objects are `iscrowd` for COCO's tools, which so
count them neither way; a `difficult` decides where both are there.
"""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from vocboard.evaluator.annotations.records import FLAGS, ImageRecord, ObjectRecord, PartRecord, read_record
from vocboard.evaluator.annotations.xml_output import xml_of
from vocboard.evaluator.conversion.boxes import Four, from_corner_and_size, to_corner_and_size
from vocboard.evaluator.conversion.decimals import decimal, plain
from vocboard.evaluator.conversion.json_input import four, read_json
from vocboard.evaluator.conversion.names import CategoryNames, ImageNames, file_stem
from vocboard.evaluator.conversion.problems import ConversionError, ProblemCollector
from vocboard.evaluator.editions import AnnotationFormat, Edition, Task, image_sets_of
from vocboard.evaluator.ground_truth.errors import TreeProblems
from vocboard.evaluator.ground_truth.image_set_files import file_of
from vocboard.evaluator.ground_truth.material import annotation_file
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.ground_truth.tree import Tree
from vocboard.evaluator.problems import Severity, quoted
from vocboard.evaluator.whole_output import whole_directory, whole_file

MARKER = "converted-from-coco.json"


def tree_to_coco(tree: Path, output: Path, edition: Edition, *, progress: Callable[[int], None] | None = None) -> int:
    """Write COCO's ground truth JSON of a tree's detection image set; return how many objects.

    Categories are numbered in the edition's order from 1 on, images by the digits of their names where these are
    different for all. Objects of other classes are left out, as in the evaluation.

    Args:
        tree: directory or archive.
        output: JSON file to write, or nothing if anything is wrong.
        edition: with the image set; see `for_image_set`.
        progress: told as images are done.

    Raises:
        GroundTruthError: with everything that is wrong with the tree.
        ConversionError: the edition's annotations are not XML.
        OSError: something cannot be read or written.
    """
    _needs_xml(edition)
    truth = read_ground_truth(tree, edition)
    images = truth.image_sets.sets[Task.DETECTION, image_sets_of(edition)[0]].images
    complaints = TreeProblems()
    contents = Tree(tree, edition.name, complaints).read([annotation_file(image, edition) for image in images])
    complaints.raise_if_any()
    numbers = _image_numbers(images)
    number = {name: place for place, name in enumerate(edition.classes, start=1)}
    image_rows: list[str] = []
    rows: list[str] = []
    for image in images:
        record = read_record(contents[annotation_file(image, edition)])
        size = f',"width":{record.size[0]},"height":{record.size[1]}' if record.size else ""
        image_rows.append(f'{{"id":{numbers[image]},"file_name":{json.dumps(f"{image}.jpg")}{size}}}')
        rows += [
            _annotation(len(rows) + place, numbers[image], number[each.name], each)
            for place, each in enumerate((o for o in record.objects if o.name in number), start=1)
        ]
        if progress is not None:
            progress(1)
    categories = [f'{{"id":{place},"name":{json.dumps(name)}}}' for name, place in number.items()]
    info = f'"info":{{"description":{json.dumps(f"{edition.title}, {image_sets_of(edition)[0]}")}}}'
    parts = [info, *(f'"{name}":[\n' + ",\n".join(lines) + "]" for name, lines in (
        ("images", image_rows), ("annotations", rows), ("categories", categories)))]  # fmt: skip
    with whole_file(output) as unfinished:
        unfinished.write_text("{" + ",\n".join(parts) + "}\n")
    return len(rows)


def coco_to_tree(
    source: Path,
    output: Path,
    edition: Edition,
    *,
    drop_unmatched: bool = False,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write a development kit tree from COCO's ground truth JSON; return how many objects.

    Images are named by their files, and objects stand in the order of the JSON.

    Args:
        source: JSON file with `images`, `annotations` and `categories`.
        output: directory to write `<edition>/` into, or nothing if anything is wrong.
        edition: with the image set; see `for_image_set`.
        drop_unmatched: whether objects of categories that the edition lacks are left out.
        progress: told as images are done.

    Raises:
        ConversionError: with everything that is wrong; nothing is written.
        OutputExistsError: there is something else at `output`.
        OSError: something cannot be read or written.
    """
    _needs_xml(edition)
    document, problems = read_json(source), ProblemCollector()
    lacking = [key for key in ("images", "annotations", "categories") if not _is_list(document, key)]
    if lacking:
        remedy = "Expected is COCO's ground truth, an object with the lists images, annotations and categories."
        problems.add("not_coco", f"it lacks {', '.join(lacking)}", remedy, file=source.name)
        raise ConversionError(problems.problems())
    names = {str(row["id"]): str(row["name"]) for row in document["categories"] if isinstance(row, dict)}
    sizes, stems = _images(document["images"], problems, source.name)
    known = CategoryNames(edition.classes, names)
    objects: dict[str, list[ObjectRecord]] = {stem: [] for stem in stems.values()}
    for place, row in enumerate(document["annotations"], start=1):
        found = _object(row, known, problems, source.name, place, drop=drop_unmatched)
        image = stems.get(str(row.get("image_id"))) if isinstance(row, dict) else None
        if found is None:
            continue
        if image is None:
            remedy = "Add the images to the list images."
            problems.add("unknown_image", "annotations of images that are not listed", remedy,
                         file=source.name, line=place, value=row.get("image_id"), noun="annotation")  # fmt: skip
            continue
        if _is_outside(found, sizes[image]):
            problems.add(
                "outside_image", "boxes that reach out of their image", "Check the sizes of the images.",
                file=source.name, line=place, value=image, noun="box", nouns="boxes", severity=Severity.WARNING,
            )  # fmt: skip
        objects[image].append(found)
    problems.raise_if_errors()
    records = {image: ImageRecord(sizes[image], tuple(of_image)) for image, of_image in objects.items()}
    with whole_directory(output, MARKER) as directory:
        _write_tree(directory / edition.name, records, edition, progress)
        (directory / MARKER).write_text(json.dumps({"source": source.name}) + "\n")
    return sum(map(len, objects.values()))


def _needs_xml(edition: Edition) -> None:
    if edition.annotations.format is not AnnotationFormat.XML:
        problems = ProblemCollector()
        problems.add("not_xml", f"{edition.name} annotates in text files", "Use an edition from VOC2007 on.")
        raise ConversionError(problems.problems())


def _image_numbers(images: tuple[str, ...]) -> dict[str, int]:
    names = ImageNames(images)
    numbers = {image: names.number(image) for image in images}
    if all(isinstance(number, int) for number in numbers.values()):
        return {image: int(number) for image, number in numbers.items()}
    return {image: place for place, image in enumerate(images, start=1)}


def _annotation(number: int, image: int, category: int, record: ObjectRecord) -> str:
    box = _decimals(record.box)
    corner = to_corner_and_size(box)
    difficult = record.flags.get("difficult", False)
    fields = [
        f'"id":{number}',
        f'"image_id":{image}',
        f'"category_id":{category}',
        f'"bbox":{_list(corner)}',
        f'"area":{plain(corner[2] * corner[3])}',
        f'"iscrowd":{int(difficult)}',
        *(f'"{name}":{int(flag)}' for name, flag in record.flags.items()),
    ]
    if record.view:
        fields.append(f'"view":{json.dumps(record.view)}')
    if record.point:
        fields.append('"point":1')
    if record.parts:
        parts = (
            f'{{"name":{json.dumps(p.name)},"bbox":{_list(to_corner_and_size(_decimals(p.box)))}}}'
            for p in record.parts
        )
        fields.append(f'"parts":[{",".join(parts)}]')
    if record.actions:
        fields.append(f'"actions":{json.dumps({name: int(flag) for name, flag in record.actions.items()})}')
    return "{" + ",".join(fields) + "}"


def _object(
    row: Any, known: CategoryNames, problems: ProblemCollector, file: str, place: int, *, drop: bool
) -> ObjectRecord | None:
    box = four(row.get("bbox")) if isinstance(row, dict) else None
    if box is None or "category_id" not in row or "image_id" not in row:
        expected = 'Expected is {"image_id", "category_id", "bbox": [x, y, width, height]}.'
        problems.add(
            "bad_annotation", "annotations that lack something", expected, file=file, line=place, noun="annotation"
        )
        return None
    name = known.find(row["category_id"])
    if name is None:
        problems.add(
            "left_out_category" if drop else "unknown_category",
            "categories that the edition does not have",
            "Their objects are left out." if drop else "Leave them out with --drop-unmatched, or use your own edition.",
            file=file, line=place, value=known.called(row["category_id"]), noun="annotation",
            severity=Severity.WARNING if drop else Severity.ERROR,
        )  # fmt: skip
        return None
    if box[2] <= 0 or box[3] <= 0:
        remedy = "COCO's bbox is x, y, width, height, not two corners; leave out empty boxes."
        problems.add(
            "swapped_corners", "boxes without width or height", remedy, file=file, line=place, noun="box", nouns="boxes"
        )
        return None
    flags = {name: bool(row[name]) for name in FLAGS if name in row}
    flags.setdefault("difficult", bool(row.get("iscrowd", 0)))
    parts = [part for part in row.get("parts", ()) if isinstance(part, dict) and four(part.get("bbox"))]
    return ObjectRecord(
        name=name,
        box=_texts(from_corner_and_size(box)),
        view=str(row.get("view", "")),
        flags=flags,
        parts=tuple(
            PartRecord(str(p.get("name", "")), _texts(from_corner_and_size(four(p["bbox"]) or box))) for p in parts
        ),
        actions={str(key): bool(flag) for key, flag in dict(row.get("actions", {})).items()},
        point=bool(row.get("point", False)),
    )


def _images(
    rows: list[Any], problems: ProblemCollector, file: str
) -> tuple[dict[str, tuple[int, int] | None], dict[str, str]]:
    """Return sizes by image, and images by id."""
    sizes: dict[str, tuple[int, int] | None] = {}
    stems: dict[str, str] = {}
    for place, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or "id" not in row or not isinstance(row.get("file_name"), str):
            expected = 'Expected is {"id", "file_name", "width", "height"}.'
            problems.add("bad_image", "images that lack something", expected, file=file, line=place, noun="image")
            continue
        stem = file_stem(row["file_name"])
        if stem in sizes or not stem or len(stem.split()) != 1:
            remedy = "Rename the files: identifiers are file names without suffix and folder, and have no spaces."
            found = "names of image files that are no identifiers, or are there twice"
            problems.add("bad_image_name", found, remedy, file=file, line=place, value=quoted(stem), noun="image")
            continue
        width, height = row.get("width"), row.get("height")
        sizes[stem] = (width, height) if isinstance(width, int) and isinstance(height, int) else None
        stems[str(row["id"])] = stem
    return sizes, stems


def _is_outside(found: ObjectRecord, size: tuple[int, int] | None) -> bool:
    """Whether a box reaches out of its image by more than a rounded pixel."""
    left, top, right, bottom = _decimals(found.box)
    return size is not None and (right > size[0] + 1 or bottom > size[1] + 1 or left < 0 or top < 0)


def _write_tree(
    tree: Path, records: Mapping[str, ImageRecord], edition: Edition, progress: Callable[[int], None] | None
) -> None:
    annotations = tree / "Annotations"
    annotations.mkdir(parents=True)
    labels: dict[str, list[str]] = {name: [] for name in edition.classes}
    for image, record in records.items():
        (annotations / f"{image}.xml").write_text(xml_of(image, record, edition.name))
        for name, lines in labels.items():
            difficult = [each.flags.get("difficult", False) for each in record.objects if each.name == name]
            lines.append(f"{image} {(0 if all(difficult) else 1) if difficult else -1:2d}\n")
        if progress is not None:
            progress(1)
    key = (Task.DETECTION, image_sets_of(edition)[0])
    lists = {file_of(edition, key): [f"{image}\n" for image in records]}
    lists |= {file_of(edition, key, name): lines for name, lines in labels.items()}
    for name, lines in lists.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines))


def _is_list(document: Any, key: str) -> bool:
    return isinstance(document, dict) and isinstance(document.get(key), list)


def _decimals(box: tuple[str, str, str, str]) -> Four:
    left, top, right, bottom = map(decimal, box)
    return left, top, right, bottom


def _texts(box: Four) -> tuple[str, str, str, str]:
    left, top, right, bottom = map(plain, box)
    return left, top, right, bottom


def _list(numbers: tuple[Decimal, ...]) -> str:
    return "[" + ",".join(map(plain, numbers)) + "]"
