"""Draw the pictures of docs/statistics.md from results of the tests: `python -m tools.statistics_pictures`."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path

import numpy as np

import vocboard
from vocboard.evaluator.diagnosis.errors import ERRORS, diagnose
from vocboard.evaluator.diagnosis.objects import RIGHT
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import DetectionTruth
from vocboard.evaluator.public_api.results import CompetitionResult
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.reports.diagnosis import KINDS
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.statistics.intervals import Interval

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "images" / "statistics"
CASE = ROOT / "tests" / "golden" / "voc2012-synthetic"
KEY = "comp3"
INK, LINE, FIRST, SECOND = "#808080", "#80808060", "#3f7fd0", "#d98a1f"  # readable on white and on black
WIDTH, LEFT, RIGHT_MARGIN = 640, 170, 30
REPLICATES, BINS = 1000, 40
NAME = "person"  # the class with most objects


@cache
def results() -> tuple[CompetitionResult, CompetitionResult]:
    """Return the results of a made-up detector, and of the same one with every fourth detection twice."""
    edition = vocboard.load_edition("VOC2012")
    truth = vocboard.read_ground_truth(CASE / "ground-truth.tar.gz", edition)
    whole = vocboard.evaluate(CASE / "results.tar.gz", edition, truth)[KEY]
    content = read_results(CASE / "results.tar.gz", edition, truth.image_sets).results[KEY].content
    more = {}
    for name, found in content.items():
        row = np.arange(len(found.image))
        both = np.concatenate((row, row[::4]))
        images = truth.image_sets.sets[edition.competitions[KEY].task, "test"].images
        more[name] = {
            "images": [images[index] for index in found.image[both].tolist()],
            "scores": found.confidence[both],
            "boxes": found.box[both],
        }
    return whole, vocboard.evaluate({KEY: more}, edition, truth)[KEY]


def replicates() -> str:
    """Return a histogram of the scores of the replicates, with the interval."""
    result = results()[0]
    drawn = result.bootstrap(REPLICATES)
    scores, interval = 100 * drawn.primary.of_class(NAME).replicates, drawn.per_class[NAME]
    low, high = float(scores.min()), float(scores.max())
    counts, edges = np.histogram(scores, BINS, (low, high))
    height, top = 180, 30

    def x(score: float) -> float:
        return 40 + (WIDTH - 80) * (score - low) / (high - low)

    parts = []
    for count, start, stop in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        inside = 100 * interval.low <= (start + stop) / 2 <= 100 * interval.high
        tall = height * count / int(counts.max())
        place = f'x="{x(start) + 0.5:.1f}" y="{top + height - tall:.1f}" width="{x(stop) - x(start) - 1:.1f}"'
        parts.append(f'<rect {place} height="{tall:.1f}" fill="{FIRST if inside else LINE}"/>')
    marks = (("low end", interval.low), ("score", result.per_class[NAME]), ("high end", interval.high))
    for label, share in marks:
        score = 100 * share
        parts.append(f'<path d="M{x(score):.1f},{top - 6}V{top + height}" stroke="{SECOND}" stroke-width="2"/>')
        parts.append(text(x(score), top - 12, f"{label} {score:.1f}"))
    parts.append(
        text(WIDTH / 2, top + height + 20, "average precision of the class in each of 1,000 replicates, per cent")
    )
    return svg(top + height + 30, parts, "Histogram of the scores of 1,000 replicates and the 95 % interval")


def differences() -> str:
    """Return the intervals of two methods, and of their difference."""
    one, other = results()
    comparison = vocboard.compare({"first method": one, "second method": other}, class_name=NAME, replicates=REPLICATES)
    [(pair, difference)] = comparison.differences.items()
    sign = 1 if pair[0] == "first method" else -1
    ends = sorted((sign * difference.low, sign * difference.high))
    rows = {
        name: (each.bootstrap(REPLICATES).per_class[NAME], each.per_class[NAME])
        for name, each in (("first method", one), ("second method", other))
    }
    parts = [
        *_intervals(rows, 20, (0.3, 0.9)),
        text(LEFT + 10, 96, "average precision of the class, per cent", "start"),
    ]
    drawn = {"first − second": ((ends[0], ends[1]), one.per_class[NAME] - other.per_class[NAME])}
    parts += _intervals(drawn, 130, (-0.1, 0.3))
    parts.append(text(LEFT + 10, 186, "difference, in points", "start"))
    return svg(196, parts, "Intervals of two methods, and of their difference")


def _intervals(
    rows: Mapping[str, tuple[Interval | tuple[float, float], float]], top: int, axis: tuple[float, float]
) -> Iterator[str]:
    def x(score: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT_MARGIN) * (score - axis[0]) / (axis[1] - axis[0])

    bottom = top + 26 * len(rows)
    for tick in np.arange(axis[0], axis[1] + 0.01, 0.1).tolist():
        colour, width = (INK, 1.5) if abs(tick) < 1e-9 else (LINE, 1)
        yield f'<path d="M{x(tick):.1f},{top - 8}V{bottom - 8}" stroke="{colour}" stroke-width="{width}"/>'
        yield text(x(tick), bottom + 6, f"{100 * tick:.0f}")
    for row, (name, (interval, score)) in enumerate(rows.items()):
        y = top + 26 * row
        low, high = interval if isinstance(interval, tuple) else (interval.low, interval.high)
        yield text(LEFT - 8, y + 4, name, "end")
        yield f'<path d="M{x(low):.1f},{y}H{x(high):.1f}" stroke="{FIRST}" stroke-width="4"/>'
        yield f'<circle cx="{x(score):.1f}" cy="{y}" r="6" fill="{SECOND}"/>'


# Boxes of an image of 150 x 110 pixels: a cat, a dog, and a result of the class cat in each panel.
CAT, DOG = (15.0, 25.0, 65.0, 90.0), (85.0, 35.0, 140.0, 95.0)
PANELS = ((18.0, 22.0, 68.0, 88.0), (12.0, 30.0, 62.0, 95.0), (35.0, 50.0, 85.0, 105.0), (82.0, 33.0, 138.0, 97.0),
          (66.0, 5.0, 110.0, 62.0), (62.0, 2.0, 83.0, 30.0))  # fmt: skip


def kinds() -> str:
    """Return an example of each kind of error, named as the diagnosis names it."""
    edition = load("VOC2012")
    names = edition.classes.index("cat"), edition.classes.index("dog")
    truth = DetectionTruth(
        np.zeros(2, dtype=np.int32), np.array(names, dtype=np.int16), np.array([CAT, DOG]), np.zeros(2, dtype=np.bool_)
    )
    confidence = np.linspace(0.9, 0.4, len(PANELS))
    found = Detections(np.zeros(len(PANELS), dtype=np.int32), confidence, np.array(PANELS))
    diagnosed = diagnose(Entry(edition.competitions[KEY], ("cat",), {"cat": found}), truth, edition)
    if diagnosed is None:
        raise ValueError("detections have a diagnosis")
    parts = []
    for place, (box, error) in enumerate(zip(PANELS, diagnosed.classes["cat"].error.tolist(), strict=True)):
        kind = RIGHT if error < 0 else KINDS[ERRORS[error].value]
        across, down = 20 + 205 * (place % 3), 14 + 160 * (place // 3)
        parts.append(f'<g transform="translate({across} {down})">')
        parts.append(f'<rect width="150" height="110" fill="none" stroke="{LINE}"/>')
        parts += [rectangle(CAT, INK, dashed=True), text(40, 20, "cat")]
        parts += [rectangle(DOG, INK, dashed=True), text(112, 31, "dog")]
        parts += [rectangle(box, FIRST if kind == RIGHT else SECOND), text(75, 130, kind), "</g>"]
    return svg(320, parts, "A cat, a dog, and results of the class cat: right, and each kind of error")


def gains() -> str:
    """Return the gain of the made-up detector if each kind of error were fixed."""
    found = results()[0].diagnose()["errors"]["gain"]
    most = max(found.values())
    parts = []
    for row, (kind, gain) in enumerate(found.items()):
        y, length = 8 + 26 * row, (WIDTH - LEFT - 60) * gain / most
        parts.append(text(LEFT - 8, y + 14, KINDS[kind], "end"))
        parts.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="18" fill="{FIRST}"/>')
        parts.append(text(LEFT + length + 6, y + 14, f"{100 * gain:.1f}", "start"))
    return svg(16 + 26 * len(found), parts, "Gain of the mean score, in points, if each kind of error were fixed")


def rectangle(box: tuple[float, float, float, float], colour: str, *, dashed: bool = False) -> str:
    """Return a box."""
    left, top, right, bottom = box
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    sides = f'x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}"'
    return f'<rect {sides} fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'


def text(x: float, y: float, content: str, anchor: str = "middle") -> str:
    """Return a text at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}">{escape(content)}</text>'


def svg(height: float, parts: list[str], title: str) -> str:
    """Return a file with these parts."""
    size = f'viewBox="0 0 {WIDTH} {height:g}" font-family="sans-serif" font-size="13"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>'
    return "\n".join([head, f"<title>{escape(title)}</title>", *parts, "</svg>\n"])


PICTURES: Mapping[str, Callable[[], str]] = {
    "replicates": replicates, "differences": differences, "kinds": kinds, "gains": gains,
}  # fmt: skip


def path(name: str) -> Path:
    """Return the file of a picture."""
    return FOLDER / f"{name}.svg"


def main() -> int:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        path(name).write_text(draw(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
