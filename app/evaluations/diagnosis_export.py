"""A diagnosis as CSV: a row for each number."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from vocboard.app.evaluations.visible import VisibleDiagnosis

ALL = "all"  # instead of a class
_Row = tuple[str, str, str, float | int | None]  # class, measure, kind and value

# Keys whose values are by class, and then by kind.
_BY_CLASS = ("first_false_positives", "confused_with")
_PIXELS = ("near_boundaries", "away_from_boundaries")


def diagnosis_csv(diagnosis: VisibleDiagnosis | None) -> str:
    """Return RFC 4180 CSV; only a header if there is nothing to show. Undefined values are `n/a`."""
    output = io.StringIO()
    writer = csv.writer(output)
    writer.writerow(["class", "measure", "kind", "value"])
    if diagnosis is not None:
        for name, measure, kind, value in (*_shares(diagnosis), *_exact(diagnosis.exact or {})):
            writer.writerow([name, measure, kind, "n/a" if value is None else value])
    return output.getvalue()


def _shares(diagnosis: VisibleDiagnosis) -> Iterator[_Row]:
    for of, shares in (diagnosis.shares or {}).items():
        yield from ((ALL, f"share_of_{of}", kind, share) for kind, share in (shares or {}).items())


def _exact(found: Mapping[str, Any]) -> Iterator[_Row]:
    if errors := found.get("errors"):
        yield from _errors(ALL, errors)
        for name, of_class in errors["per_class"].items():
            yield from _errors(name, of_class)
    for measure in _BY_CLASS:
        for name, counts in found.get(measure, {}).items():
            yield from ((name, measure, kind, count) for kind, count in counts.items())
    for noun in ("images", "people"):
        for name, first in found.get(f"first_{noun}", {}).items():
            yield from ((name, measure, "", first[measure]) for measure in (noun, "precision", "none"))
            yield from ((name, "mistaken_for", other, count) for other, count in first["mistaken_for"].items())
    if "confusions" in found:
        yield from _segmentation(found)


def _errors(name: str, errors: Mapping[str, Any]) -> Iterator[_Row]:
    yield name, "score", "", errors["score"]
    yield from ((name, "count", kind, count) for kind, count in errors["counts"].items())
    yield from ((name, "gain", kind, gain) for kind, gain in errors["gain"].items())


def _segmentation(found: Mapping[str, Any]) -> Iterator[_Row]:
    for measure in ("pixel_accuracy", "frequency_weighted_iou"):
        yield ALL, measure, "", found[measure]
    for each in found["confusions"]:
        yield each["true"], "pixels_found_as", each["found"], each["pixels"]
    yield from ((name, "boundary_iou", "", value) for name, value in found.get("boundary_iou", {}).items())
    for place in _PIXELS:
        yield from ((ALL, place, kind, value) for kind, value in found.get(place, {}).items())
