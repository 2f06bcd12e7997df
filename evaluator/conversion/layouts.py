"""Converts person layouts in JSON to the XML of a layout competition and back, as the kits' VOCwritexml does.

The JSON is a list of `{"image": "2009_000595", "object": 1, "confidence": 0.9, "parts": [{"class": "head", "box":
[left, top, right, bottom]}, ...]}`, in VOC's coordinates. VOC2007 identifies people by their box: there, `"box"`
replaces `"object"`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from lxml import etree

from vocboard.evaluator.conversion.decimals import decimal, plain
from vocboard.evaluator.conversion.detections import Converted
from vocboard.evaluator.conversion.json_input import four, number, read_json
from vocboard.evaluator.conversion.problems import ProblemCollector, refused
from vocboard.evaluator.conversion.result_archive import competition_of, files_of, write_results
from vocboard.evaluator.editions import Competition, Edition, LayoutProtocol, Task
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.result_files.names import expected_name
from vocboard.evaluator.whole_output import whole_file

_SIDES = ("xmin", "ymin", "xmax", "ymax")
_EXPECTED = (
    'Expected a list of {"image": ..., "object": 1, "confidence": ..., "parts": [{"class": "head", "box": '
    '[left, top, right, bottom]}]}; in VOC2007 with "box" in place of "object".'
)


def layouts_to_results(
    source: Path, output: Path, edition: Edition, competition: str, image_sets: ImageSets
) -> Converted:
    """Write the layout XML of a competition from JSON.

    Raises:
        ConversionError: the input is invalid; lists all problems, and nothing is written.
        OSError: a file cannot be read or written.
    """
    chosen = competition_of(edition, competition, Task.LAYOUT)
    document, problems = read_json(source), ProblemCollector()
    if not isinstance(document, list):
        raise refused("no_layouts", "this is not a list", _EXPECTED, source.name)
    by_box = _by_box(chosen)
    for place, layout in enumerate(document, start=1):
        for code, found in _errors(layout, by_box, edition.parts):
            problems.add(code, found, _EXPECTED, file=source.name, line=place, noun="layout")
    problems.raise_if_errors()
    lines = ["<results>", *(line for layout in document for line in _xml(layout, by_box))]
    content = "\n".join([*lines, "</results>", ""]).encode()
    warnings = write_results(output, edition, [(expected_name(chosen), content)], image_sets, [competition])
    return Converted(len(document), chosen.classes, warnings)


def layouts_from_results(results: Path, output: Path, edition: Edition, competition: str, image_sets: ImageSets) -> int:
    """Write JSON from the layout XML of result files; return the number of layouts.

    Raises:
        ConversionError: the result files are not valid, or there are none of the competition.
        OSError: a file cannot be read or written.
    """
    chosen = competition_of(edition, competition, Task.LAYOUT)
    files = files_of(results, edition, chosen, image_sets)
    rows = [row for _, content in files for row in _rows(content, _by_box(chosen))]
    if not rows:
        raise refused("no_results", f"it has no layouts of {competition}", "Name another competition.")
    with whole_file(output) as unfinished:
        unfinished.write_text("[" + ",\n".join(rows) + "]\n")
    return len(rows)


def _by_box(competition: Competition) -> bool:
    return competition.rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX


def _errors(layout: Any, by_box: bool, kinds: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield code and description of everything that is wrong with a layout.

    Args:
        layout: the record.
        by_box: whether people are identified by their box.
        kinds: the edition's types of parts.
    """
    if not isinstance(layout, dict):
        yield "bad_layout", "records that are not objects"
        return
    if not isinstance(layout.get("image"), str):
        yield "bad_image", "layouts without an 'image', a string"
    if number(layout.get("confidence")) is None:
        yield "bad_confidence", "layouts without a 'confidence', a finite number"
    if by_box and four(layout.get("box")) is None:
        yield "bad_box", "layouts without a 'box' of the person, four finite numbers"
    if not by_box and not isinstance(layout.get("object"), int):
        yield "bad_object", "layouts without an 'object', the person's number in the image, from 1 on"
    parts = layout.get("parts")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        yield "bad_parts", "layouts without 'parts', a list of objects"
        return
    if any(part.get("class") not in kinds for part in parts):
        yield "unknown_part", f"layouts with a part whose 'class' is not one of {', '.join(kinds)}"
    if any(four(part.get("box")) is None for part in parts):
        yield "bad_part_box", "layouts with a part whose 'box' is not four finite numbers"


def _xml(layout: Mapping[str, Any], by_box: bool) -> list[str]:
    """Return the lines of XML of a layout without errors."""
    lines = ["\t<layout>", f"\t\t<image>{escape(layout['image'])}</image>"]
    lines += _box_lines(layout["box"], "\t\t") if by_box else [f"\t\t<object>{layout['object']}</object>"]
    lines.append(f"\t\t<confidence>{_written(layout['confidence'])}</confidence>")
    for part in layout["parts"]:
        lines += ["\t\t<part>", f"\t\t\t<class>{escape(part['class'])}</class>"]
        lines += [*_box_lines(part["box"], "\t\t\t"), "\t\t</part>"]
    return [*lines, "\t</layout>"]


def _written(value: Decimal | int) -> str:
    return plain(Decimal(value))


def _box_lines(box: Sequence[Decimal | int], indent: str) -> list[str]:
    sides = [f"{indent}\t<{side}>{_written(value)}</{side}>" for side, value in zip(_SIDES, box, strict=True)]
    return [f"{indent}<bndbox>", *sides, f"{indent}</bndbox>"]


def _rows(content: bytes, by_box: bool) -> Iterator[str]:
    """Yield each layout of a valid file as JSON."""
    parser = etree.XMLParser(  # as it was checked: whatever encoding it declares, and text parted by comments is one
        encoding="utf-8", remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True, load_dtd=False
    )
    for layout in etree.fromstring(content, parser).iterchildren("layout"):
        person = f'"box":{_box_json(layout)}' if by_box else f'"object":{int(_text(layout, "object"))}'
        parts = ",".join(
            f'{{"class":{json.dumps(_text(part, "class"))},"box":{_box_json(part)}}}'
            for part in layout.iterchildren("part")
        )
        image, confidence = json.dumps(_text(layout, "image")), plain(_number(layout, "confidence"))
        yield f'{{"image":{image},{person},"confidence":{confidence},"parts":[{parts}]}}'


def _box_json(element: etree._Element) -> str:
    box = element.find("bndbox")
    assert box is not None  # noqa: S101  # the file is valid
    return "[" + ",".join(plain(_number(box, side)) for side in _SIDES) + "]"


def _number(element: etree._Element, name: str) -> Decimal:
    return decimal(_text(element, name))


def _text(element: etree._Element, name: str) -> str:
    return (element.findtext(name) or "").strip()
