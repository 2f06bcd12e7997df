"""Converts detections in the formats of other tools to result files of a competition and back."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vocboard.evaluator.conversion.boxes import ConvertedDetection
from vocboard.evaluator.conversion.checks import SWAPPED_CORNERS, check_boxes, check_covered
from vocboard.evaluator.conversion.coco_results import coco_source, is_coco_results
from vocboard.evaluator.conversion.decimals import decimal, plain
from vocboard.evaluator.conversion.json_input import parse_json, read_json
from vocboard.evaluator.conversion.names import (
    CategoryNames,
    ImageNames,
    NamesById,
    by_text,
    file_stem,
    report_unknown_category,
    report_unknown_image,
)
from vocboard.evaluator.conversion.predictions import prediction_source, rows_of_image
from vocboard.evaluator.conversion.problems import ConversionError, ProblemCollector, refused
from vocboard.evaluator.conversion.result_archive import Files, competition_of, files_of, image_set_of, write_results
from vocboard.evaluator.conversion.rows import FROM, Convention, Row, Source
from vocboard.evaluator.conversion.yolo import yolo_source
from vocboard.evaluator.editions import Competition, Edition, Task
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.boxes import BOX_UPSIDE_DOWN
from vocboard.evaluator.result_files.names import expected_name

Progress = Callable[[int], None]  # called with the number of detections done since the last call
_TOLD = 1_000  # detections between two calls of a `Progress`
_NO_SIZE = (1, 1)


@dataclass(frozen=True, slots=True)
class Converted:
    """Result of a conversion.

    Attributes:
        detections: number of detections written.
        classes: classes with a result file.
        problems: warnings.
    """

    detections: int
    classes: tuple[str, ...]
    problems: tuple[Problem, ...]


def to_results(
    source_format: str,
    source: Path,
    output: Path,
    *,
    edition: Edition,
    competition: str,
    image_sets: ImageSets,
    images: NamesById | None = None,
    categories: NamesById | Callable[[int], NamesById] | None = None,
    drop_unmatched: bool = False,
    all_classes: bool = False,
    progress: Progress | None = None,
) -> Converted:
    """Write the result files of a detection competition from another tool's detections.

    Args:
        source_format: one of `FORMATS`.
        source: file, directory or archive.
        output: archive to write; not written if there is an error.
        edition: for the image set of the detections; see `for_image_set`.
        competition: its key.
        image_sets: image sets of the edition, with sizes if the format needs them; without, fewer checks are made.
        images: image names by id; None to match by number and file name.
        categories: names by number, or what returns them for the number of the first category of the input; None if
            numbers are those of the edition's classes.
        drop_unmatched: whether to leave out detections of categories that the edition does not have.
        all_classes: whether to write an empty file for each class without detections, so that it counts as entered.
        progress: called with the number of detections done.

    Raises:
        ConversionError: the input is invalid; lists all problems, and nothing is written.
        OSError: a file cannot be read or written.
    """
    chosen = competition_of(edition, competition, Task.DETECTION)
    image_set = image_set_of(chosen, image_sets)
    problems = ProblemCollector()
    opened = FORMATS[source_format](source, image_set.images, problems)
    names = ImageNames(image_set.images, images)
    listed = categories(opened.first_category) if callable(categories) else categories
    known = CategoryNames(edition.classes, None if listed is None else by_text(listed), opened.first_category)
    sizes = image_set.sizes_by_image()
    if opened.convention is Convention.CENTRE and sizes is None:
        problems.add(
            "unknown_sizes",
            "the tree does not say how large its images are",
            "Put Annotations/ or JPEGImages/ into it: fractions become pixels by the size of the image.",
        )
        problems.raise_if_errors()
    matching = _Matching(names, known, problems, drop_unmatched)
    found = list(matching.found(opened, sizes or {}, progress))
    check_boxes(found, sizes, problems, source.name)
    wanted = set(edition.classes) if all_classes else {each.label for each in found} | set(known.covered())
    classes = tuple(name for name in edition.classes if name in wanted)
    if not classes and not problems.has_errors:
        remedy = "Name the output that has some, or enter the classes as found nowhere with --all-classes."
        problems.add("no_detections", "there are no detections of the edition's classes", remedy, file=source.name)
    check_covered(edition, classes, opened.images, names, problems=problems, file=source.name)
    problems.raise_if_errors()
    files = result_files(found, chosen, classes)
    try:
        warnings = write_results(output, edition, files, image_sets, [competition])
    except ConversionError as error:
        raise ConversionError([*problems.problems(), *error.problems]) from error
    noted = problems.problems()
    if any(problem.code == SWAPPED_CORNERS for problem in noted):  # which says it of all files together
        warnings = tuple(warning for warning in warnings if warning.code != BOX_UPSIDE_DOWN.code)
    return Converted(len(found), classes, (*noted, *warnings))


def from_results(
    path: Path, edition: Edition, competition: str, image_sets: ImageSets
) -> tuple[list[ConvertedDetection], tuple[str, ...]]:
    """Return the detections of result files, class after class in the order of each file, and the classes entered.

    Raises:
        ConversionError: the result files are not valid, or there are none of the competition.
        OSError: the path cannot be read.
    """
    chosen = competition_of(edition, competition, Task.DETECTION)
    found: dict[str, list[ConvertedDetection]] = {name: [] for name in edition.classes}
    entered: set[str] = set()
    for name, content in files_of(path, edition, chosen, image_sets):
        entered.update((name.label,) if name.label else edition.classes)
        for each in _lines(content, name.label):
            found[each.label].append(each)
    return [each for of_class in found.values() for each in of_class], tuple(c for c in edition.classes if c in entered)


def result_files(found: Iterable[ConvertedDetection], competition: Competition, classes: Sequence[str]) -> Files:
    """Return names and contents of a detection competition's files, detections in their order."""
    in_lines = competition.rules.class_in_lines
    lines: dict[str, list[str]] = {name: [] for name in (("",) if in_lines else classes)}
    for each in found:
        numbers = " ".join(map(plain, (each.confidence, *each.box)))
        line = f"{each.image} {numbers} {each.label}\n" if in_lines else f"{each.image} {numbers}\n"
        lines["" if in_lines else each.label].append(line)
    return [(expected_name(competition, name or None), "".join(text).encode()) for name, text in lines.items()]


@dataclass(frozen=True, slots=True)
class _Matching:
    """Finds the edition's image and class of each row, and collects problems of rows without them."""

    images: ImageNames
    categories: CategoryNames
    problems: ProblemCollector
    drop: bool

    def found(
        self, source: Source, sizes: Mapping[str, tuple[int, int]], progress: Progress | None
    ) -> Iterator[ConvertedDetection]:
        to_voc = FROM[source.convention]
        for number, row in enumerate(source.rows, start=1):
            image, label = self.images.find(row.image), self.categories.find(row.category)
            if image is None:
                report_unknown_image(row.image, self.images, self.problems, row.file, row.place)
            if label is None:
                report_unknown_category(
                    row.category, self.categories, self.problems, row.file, row.place, drop=self.drop
                )
            if image is not None and label is not None:
                box = to_voc(row.box, sizes.get(image, _NO_SIZE))
                yield ConvertedDetection(image, label, row.confidence, box, row.place)
            if progress is not None and number % _TOLD == 0:
                progress(_TOLD)


def _lines(content: bytes, label: str | None) -> Iterator[ConvertedDetection]:
    for place, line in enumerate(content.decode("utf-8-sig").splitlines(), start=1):
        fields = line.split()
        if fields:
            confidence, left, top, right, bottom = map(decimal, fields[1:6])
            name = label if label is not None else fields[6]
            yield ConvertedDetection(fields[0], name, confidence, (left, top, right, bottom), place)


def _coco(path: Path, _: tuple[str, ...], problems: ProblemCollector) -> Source:
    return coco_source(read_json(path), path.name, problems)


def _predictions(first: int) -> Callable[[Path, tuple[str, ...], ProblemCollector], Source]:
    def open_predictions(path: Path, images: tuple[str, ...], problems: ProblemCollector) -> Source:
        if path.is_dir():
            contents = [(file_stem(p.name), parse_json(p.read_bytes(), p.name)) for p in sorted(path.glob("*.json"))]
            if not contents:
                remedy = "Name the directory that has a JSON file for each image itself, such as preds/."
                raise refused("no_json_files", "there are no JSON files in it", remedy, path.name)
            rows = (row for name, content in contents for row in rows_of_image(name, content, f"{name}.json", problems))
            return Source(Convention.CORNERS, first, rows, tuple(name for name, _ in contents))
        document = read_json(path)
        if is_coco_results(document):
            return coco_source(document, path.name, problems)
        return prediction_source(document, path.name, images, first, problems)

    return open_predictions


def _yolo(path: Path, _: tuple[str, ...], problems: ProblemCollector) -> Source:
    return yolo_source(path, problems)


def _ultralytics(path: Path, images: tuple[str, ...], problems: ProblemCollector) -> Source:
    has_text = path.is_dir() and (any(path.rglob("*.txt")) or not any(path.glob("*.json")))
    return yolo_source(path, problems) if has_text else _predictions(0)(path, images, problems)


Opener = Callable[[Path, tuple[str, ...], ProblemCollector], Source]

FORMATS: Mapping[str, Opener] = {
    "coco": _coco,
    "yolo": _yolo,
    "torchvision": _predictions(1),
    "detectron2": _coco,
    "mmdetection": _predictions(0),
    "ultralytics": _ultralytics,
    "huggingface": _predictions(0),
}

__all__ = ["FORMATS", "Converted", "Row", "from_results", "to_results"]
