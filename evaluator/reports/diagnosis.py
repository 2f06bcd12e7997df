"""The diagnosis of a competition, as HTML."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np

from vocboard.evaluator.diagnosis.what_if import FALSE_NEGATIVES, FALSE_POSITIVES, MISSED
from vocboard.evaluator.diagnosis.worst import NEGATIVE, WRONG_PIXELS
from vocboard.evaluator.plots import Line, bars, plot, shares
from vocboard.evaluator.reports.crops import LEGEND

# Kinds of errors, in the words of the page.
KINDS: Mapping[str, str] = {
    "location": "poor localisation",
    "class": "another class",
    "duplicate": "duplicate",
    "background": "background",
    "both": "class and localisation",
    MISSED: "missed",
    FALSE_POSITIVES: "all false positives",
    FALSE_NEGATIVES: "all objects not found",
    "similar": "similar class",
    "other": "dissimilar class",
    NEGATIVE: "early in the ranking of a class that the image does not show",
    WRONG_PIXELS: "images with the largest share of wrong pixels",
}
_CHARACTERISTICS = {
    "by_size": "size",
    "by_aspect_ratio": "width over height",
    "by_truncation": "truncated",
    "by_occlusion": "occluded",
    "by_view": "view",
}


def diagnosis_sections(found: Mapping[str, Any], galleries: Mapping[str, str]) -> Iterator[str]:
    """Yield the parts of a diagnosis.

    Args:
        found: the diagnosis; see `evaluator.diagnosis.report`.
        galleries: the worst errors of each kind, as HTML.
    """
    yield "<h3>What to improve</h3>"
    if "errors" in found:
        yield _errors(found["errors"])
        yield _first(found["first_false_positives"])
    for noun in ("images", "people"):
        if f"first_{noun}" in found:
            yield _first_items(found[f"first_{noun}"], noun)
    if "mean_over_overlaps" in found:
        yield _overlaps(found["mean_over_overlaps"])
        yield _characteristics(found["measures"])
    if "confusions" in found:
        yield _pixels(found)
    if galleries:
        yield _worst(galleries)


def _errors(errors: Mapping[str, Any]) -> str:
    gains = {KINDS[kind]: 100 * gain for kind, gain in errors["gain"].items() if gain is not None}
    counts = {KINDS.get(kind, kind.replace("_", " ")): count for kind, count in errors["counts"].items()}
    rows = [f'<tr><th scope="row">{escape(kind)}</th><td>{count:,}</td></tr>' for kind, count in counts.items()]
    return (
        "<p>What the mean score would gain, in points, if all errors of a kind were fixed. Gains do not add up.</p>"
        f'<div class="pair">{bars(gains, "Gain by kind of error, in points")}'
        f"{_table(('kind', 'number'), rows, 'Number of errors of each kind')}</div>"
    )


def _first(first: Mapping[str, Mapping[str, int]]) -> str:
    drawn = shares({name: {KINDS[kind]: count for kind, count in kinds.items()} for name, kinds in first.items()})
    text = "Kinds of the first false positives of each class, as many as it has objects"
    return f"<h4>{text}</h4>{drawn}"


def _first_items(first: Mapping[str, Mapping[str, Any]], noun: str) -> str:
    rows = []
    for name, each in first.items():
        most = ", ".join(f"{escape(other)} {count:,}" for other, count in list(each["mistaken_for"].items())[:3])
        cells = f"<td>{each[noun]:,}</td><td>{_per_cent(each['precision'])}</td><td>{each['none']:,}</td>"
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}<td class="text">{most}</td></tr>')
    heads = ("class", noun, "right", "show no class", "show another class instead")
    text = f"The first {noun} of each class, as many as show it"
    return f"<h4>{text}</h4>{_table(heads, rows, text)}"


def _overlaps(means: Mapping[str, float | None]) -> str:
    known = [(float(key), value) for key, value in means.items() if key != "mean" and value is not None]
    if not known:
        return ""
    x, y = (np.array(axis) for axis in zip(*known, strict=True))
    drawn = plot([Line("mean", x, y)], "mean", ("required overlap", "average precision"))
    caption = f"average over overlaps of 0.5 to 0.95: <b>{_per_cent(means['mean'])}</b>"
    figure = f"<figure>{drawn}<figcaption>{caption}</figcaption></figure>"
    return f'<h4>Mean average precision by required overlap</h4><div class="plots">{figure}</div>'


def _characteristics(measures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the mean over classes of the normalised average precision of each part of the objects."""
    rows = []
    for key, title in _CHARACTERISTICS.items():
        parts: dict[str, list[tuple[int, float]]] = {}
        for of_class in measures.values():
            for part, each in of_class.get(key, {}).items():
                own = parts.setdefault(part, [])
                if each["normalised_average_precision"] is not None:
                    own.append((each["objects"], each["normalised_average_precision"]))
        for part, values in parts.items():
            if not values:
                continue
            mean = sum(score for _, score in values) / len(values)
            objects = sum(number for number, _ in values)
            name = f"{title}: {part.replace('_', ' ')}"
            cells = f'<td>{objects:,}</td><td class="bar" style="--share:{mean:.4f}">{_per_cent(mean)}</td>'
            rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    text = "Normalised average precision of some of the objects, mean over classes"
    return f"<h4>{text}</h4>{_table(('objects', 'number', 'normalised AP'), rows, text)}"


def _pixels(found: Mapping[str, Any]) -> str:
    parts = [f"<p>Without void, {_per_cent(found['pixel_accuracy'])} % of the pixels are right."]
    if "near_boundaries" in found:
        near, away = found["near_boundaries"], found["away_from_boundaries"]
        wrong = near["wrong"] + away["wrong"]
        share = near["wrong"] / wrong if wrong else None
        parts.append(
            f"Within 8 pixels of a true boundary, {_per_cent(near['accuracy'])} % are right, elsewhere "
            f"{_per_cent(away['accuracy'])} %; {_per_cent(share)} % of the wrong pixels are near boundaries."
        )
    parts.append("</p>")
    rows = [
        f'<tr><th scope="row">{escape(each["true"])}</th><td class="text">{escape(each["found"])}</td>'
        f"<td>{each['pixels']:,}</td><td>{_per_cent(each['share'])}</td></tr>"
        for each in found["confusions"][:10]
    ]
    text = "Largest confusions"
    table = _table(("true label", "label of the result", "pixels", "share of the true label"), rows, text)
    return f"{' '.join(parts)}<h4>{text}</h4>{table}"


def _worst(galleries: Mapping[str, str]) -> str:
    note, keys = "Each leads to its image on the page of <code>vocboard view</code>.", ""
    if WRONG_PIXELS not in galleries:
        note = f"The worst are the earliest in the ranking of their class, and the largest missed objects. {note}"
    if not {WRONG_PIXELS, NEGATIVE} & galleries.keys():
        keys = "".join(f'<span class="key {kind}">{escape(text)}</span>' for kind, text in LEGEND.items())
    parts = "".join(f"<h4>{escape(KINDS[kind].capitalize())}</h4>{drawn}" for kind, drawn in galleries.items())
    return f"<h3>Worst errors</h3><p>{note} {keys}</p>{parts}"


def _table(heads: tuple[str, ...], rows: list[str], name: str) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div class="wide" role="group" aria-label="{escape(name)}" tabindex="0">{table}</div>'


def _per_cent(share: float | None) -> str:
    return "n/a" if share is None else f"{100 * share:.1f}"
