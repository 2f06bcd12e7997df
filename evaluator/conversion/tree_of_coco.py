"""Converts COCO's ground truth JSON to a development kit tree."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vocboard.evaluator.annotations.records import FLAGS, ImageRecord, ObjectRecord, PartRecord
from vocboard.evaluator.annotations.xml_output import xml_of
from vocboard.evaluator.conversion.boxes import from_corner_and_size
from vocboard.evaluator.conversion.coco_changes import ChangeNotes, KeptAnnotation
from vocboard.evaluator.conversion.coco_painting import Painting
from vocboard.evaluator.conversion.coco_truth import LABEL_FIELD, ONLY_FIELD, ConvertedTruth, decimals, needs_xml, texts
from vocboard.evaluator.conversion.json_input import four, number, read_json
from vocboard.evaluator.conversion.names import CategoryNames, file_stem
from vocboard.evaluator.conversion.problems import ProblemCollector, refused
from vocboard.evaluator.editions import Edition, Task, image_sets_of
from vocboard.evaluator.problems import Severity, quoted
from vocboard.evaluator.tasks.image_set_files import file_of
from vocboard.evaluator.whole_output import whole_directory

_KEPT = frozenset({
    "id", "image_id", "category_id", "bbox", "area", "iscrowd", "segmentation", "view", "point", "parts", "actions",
    LABEL_FIELD, ONLY_FIELD, *FLAGS,
})  # fmt: skip


def coco_to_tree(
    source: Path,
    output: Path,
    edition: Edition,
    *,
    drop_unmatched: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ConvertedTruth:
    """Write a development kit tree from COCO's ground truth JSON.

    Images are named after their files, and objects are in the order of the JSON. Objects with a segmentation are
    painted into `SegmentationObject/` and `SegmentationClass/`, later ones over earlier ones.

    Args:
        source: JSON file with `images`, `annotations` and `categories`.
        output: directory to write, with `<edition>/`; not written if there is an error.
        edition: for the image set; see `for_image_set`.
        drop_unmatched: whether to leave out objects of categories that the edition does not have.
        progress: called with the number of images done.

    Raises:
        ConversionError: the input is invalid; lists all problems, and nothing is written.
        OutputExistsError: `output` exists and was not written by vocboard.
        OSError: a file cannot be read or written.
    """
    needs_xml(edition)
    document, problems = read_json(source), ProblemCollector()
    lacking = [key for key in ("images", "annotations", "categories") if not _is_list(document, key)]
    if lacking:
        remedy = "Expected COCO's ground truth, an object with the lists images, annotations and categories."
        raise refused("not_coco", f"it lacks {', '.join(lacking)}", remedy, source.name)
    names = _categories(document["categories"], problems, source.name)
    sizes, stems = _images(document["images"], problems, source.name)
    known = CategoryNames(edition.classes, names)
    objects: dict[str, list[ObjectRecord]] = {stem: [] for stem in stems.values()}
    kept: dict[str, list[tuple[bool, int | None, dict[str, Any], int]]] = {stem: [] for stem in stems.values()}
    painting = Painting(sizes, edition.classes, problems, source.name)
    for place, row in enumerate(document["images"], start=1):
        painting.take_void(row, place, stems)
    for place, row in enumerate(document["annotations"], start=1):
        found = _object(row, known, problems, source.name, place, drop=drop_unmatched)
        image = stems.get(str(row.get("image_id"))) if isinstance(row, dict) else None
        if found is None:
            continue
        for field in row.keys() - _KEPT:
            problems.add(
                "left_out_field", "fields that a tree has no place for", "They are left out.",
                file=source.name, value=field, noun="annotation", severity=Severity.WARNING,
            )  # fmt: skip
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
        label = painting.take(row, found.name, image, place, len(objects[image]) + 1)
        is_only = label is not None and bool(row.get(ONLY_FIELD))
        kept[image].append((is_only, label, row, place))
        if not is_only:
            objects[image].append(found)
    painting.finish()
    problems.raise_if_errors()
    notes = ChangeNotes(problems, source.name)
    notes.images(document["images"], stems)
    notes.categories(document["categories"], known)
    notes.annotations(
        KeptAnnotation(row, place, None if label is None else painting.pixels(image, label))
        for image, of_image in kept.items()
        for _, label, row, place in sorted(of_image, key=lambda each: each[0])  # those of label maps only come last
    )
    records = {image: ImageRecord(sizes[image], tuple(of_image)) for image, of_image in objects.items()}
    with whole_directory(output, "tree") as directory:
        _write_tree(directory / edition.name, records, edition, progress)
        painting.write(directory / edition.name, edition)
    return ConvertedTruth(sum(map(len, objects.values())), painting.count, problems.problems())


def _object(
    row: Any, known: CategoryNames, problems: ProblemCollector, file: str, place: int, *, drop: bool
) -> ObjectRecord | None:
    box = four(row.get("bbox")) if isinstance(row, dict) else None
    parts, actions = (row.get("parts") or [], row.get("actions") or {}) if isinstance(row, dict) else ([], {})
    has_details = isinstance(parts, list) and isinstance(actions, dict)
    if (
        box is None
        or not {"category_id", "image_id"} <= row.keys()
        or not has_details
        or any(isinstance(row.get(flag), str) for flag in (*FLAGS, "iscrowd"))
    ):
        expected = (
            'Expected {"image_id", "category_id", "bbox": [x, y, width, height]}; flags such as "iscrowd" 0 or 1, '
            '"parts" [], "actions" {}.'
        )
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
    return ObjectRecord(
        name=name,
        box=texts(from_corner_and_size(box)),
        view=str(row.get("view") or ""),
        flags=flags,
        parts=tuple(
            PartRecord(
                str(p.get("name", "")),
                texts(from_corner_and_size(four(p["bbox"]) or box)),
                bool(p.get("point", False)),
            )
            for p in parts
            if isinstance(p, dict) and four(p.get("bbox"))
        ),
        actions={str(key): bool(flag) for key, flag in actions.items()},
        point=bool(row.get("point", False)),
    )


def _categories(rows: list[Any], problems: ProblemCollector, file: str) -> dict[str, str]:
    """Return names by id."""
    names: dict[str, str] = {}
    for place, row in enumerate(rows, start=1):
        if isinstance(row, dict) and "id" in row and "name" in row:
            if names.setdefault(str(row["id"]), str(row["name"])) != str(row["name"]):
                problems.add("repeated_category_id", "ids of categories with two names", "Give each an id of its own.",
                             file=file, line=place, value=row["id"], noun="category", nouns="categories")  # fmt: skip
        else:
            expected = 'Expected {"id", "name"}.'
            problems.add("bad_category", "categories that lack something", expected,
                         file=file, line=place, noun="category", nouns="categories")  # fmt: skip
    return names


def _images(
    rows: list[Any], problems: ProblemCollector, file: str
) -> tuple[dict[str, tuple[int, int] | None], dict[str, str]]:
    """Return sizes by image, and images by id."""
    sizes: dict[str, tuple[int, int] | None] = {}
    stems: dict[str, str] = {}
    for place, row in enumerate(rows, start=1):
        image = row if isinstance(row, dict) else {}
        given = [image[side] for side in ("width", "height") if image.get(side) is not None]
        sides = [side for side in map(number, given) if side is not None and side >= 1 and side == int(side)]
        has_sides = len(sides) == len(given)
        if "id" not in image or not isinstance(image.get("file_name"), str) or not has_sides:
            expected = 'Expected {"id", "file_name", "width", "height"}, sides in whole numbers of at least 1.'
            problems.add("bad_image", "images that lack something", expected, file=file, line=place, noun="image")
            continue
        stem = file_stem(row["file_name"])
        if stem in sizes or not stem or len(stem.split()) != 1 or not stem.isprintable():
            remedy = "Rename the files: identifiers are file names without suffix and folder, and have no spaces."
            found = "names of image files that are not identifiers, or occur twice"
            problems.add("bad_image_name", found, remedy, file=file, line=place, value=quoted(stem), noun="image")
            continue
        if (known := stems.setdefault(str(row["id"]), stem)) != stem:
            remedy = "Give each its own, also as image_id of its annotations, for example when you join two files."
            found = f"ids that another image has, such as that of {known}"
            problems.add("repeated_image_id", found, remedy, file=file, line=place, value=row["id"], noun="image")
        sizes[stem] = (int(sides[0]), int(sides[1])) if len(sides) == 2 else None
    return sizes, stems


def _is_outside(found: ObjectRecord, size: tuple[int, int] | None) -> bool:
    """Return whether a box extends beyond its image by more than a rounded pixel."""
    left, top, right, bottom = decimals(found.box)
    return size is not None and (right > size[0] + 1 or bottom > size[1] + 1 or left < 0 or top < 0)


def _write_tree(
    tree: Path, records: Mapping[str, ImageRecord], edition: Edition, progress: Callable[[int], None] | None
) -> None:
    annotations = tree / "Annotations"
    annotations.mkdir(parents=True)
    labels: dict[str, list[str]] = {name: [] for name in edition.classes}
    for image, record in records.items():
        (annotations / f"{image}.xml").write_text(xml_of(image, record, edition.name), encoding="utf-8")
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
        path.write_text("".join(lines), encoding="utf-8")


def _is_list(document: Any, key: str) -> bool:
    return isinstance(document, dict) and isinstance(document.get(key), list)
