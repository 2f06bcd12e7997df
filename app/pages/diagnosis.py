"""The diagnosis of a competition for pages: bars divided by kind, gains, and which classes are confused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vocboard.app.evaluations.diagnosis_failures import EXPLANATIONS
from vocboard.app.evaluations.diagnosis_shares import MIN_IMAGES
from vocboard.app.evaluations.visible import DiagnosisState, VisibleDiagnosis
from vocboard.app.pages.charts import DividedBars, counted_bars, divided_bar

MAX_CONFUSIONS = 10  # that are listed
MIN_LENGTH = 0.02  # of the longest bar of gains, fractions: below it, bars have their true length

# Names of kinds, and the number of the colour that they have on all bars.
RESULTS = {
    "right": ("right", 0),
    "location": ("poor localisation or duplicate", 1),
    "similar": ("similar class", 3),
    "other": ("another class", 2),
    "background": ("background", 5),
}
ITEMS = RESULTS | {"none": ("no class", 5)}
OBJECTS = {"right": ("found", 0), "nearly": ("nearly found", 1), "missed": ("missed", 5)}
# Title, note and names of what shares are of.
SHARES = {
    "first_results": ("First results", "The most confident results of each class, as many as it has positives.", ITEMS),
    "objects": ("Objects", "Nearly found: a result misses the object only by localisation or class.", OBJECTS),
}
GAINS = {
    "location": "Poor localisation",
    "class": "Another class",
    "duplicate": "Duplicates",
    "background": "Background",
    "both": "Class and localisation",
    "missed": "Missed objects",
    "false_positives": "All false positives",
    "false_negatives": "All objects not found",
}


@dataclass(frozen=True, slots=True)
class Gain:
    """What the mean score would gain without a kind of error; a fraction, and the length of the bar."""

    name: str
    value: float
    length: float
    number: int | None


@dataclass(frozen=True, slots=True)
class Gains:
    """Gains of the mean, and of each class by kind; None where undefined."""

    of_mean: tuple[Gain, ...]
    kinds: tuple[str, ...]
    by_class: tuple[tuple[str, tuple[float | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Mistaken:
    """Which classes are mistaken for which: columns are what the first items of a ranking show.

    Attributes:
        rows: class of the ranking, number of its first items, and share and number for each column.
    """

    noun: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, int, tuple[tuple[float | None, int], ...]], ...]


@dataclass(frozen=True, slots=True)
class Pixels:
    """What is wrong with label maps.

    Attributes:
        confusions: those with many pixels, as in `exact`: `share` is a fraction of the pixels of the label `true`.
        boundaries: bars of pixels near true boundaries and away from them; None if they were not counted.
        near: share of the wrong pixels that are near boundaries.
        boundary_iou: of each label; empty if not counted.
    """

    accuracy: float | None
    confusions: Sequence[Mapping[str, Any]]
    boundaries: DividedBars | None
    near: float | None
    boundary_iou: tuple[tuple[str, float | None], ...]


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """What a page shows of a diagnosis.

    Attributes:
        state: what becomes of the diagnosis.
        failure: why it could not be computed, in words; empty unless its state is so.
        shares: coarse shares; empty if exact numbers are shown instead.
        too_few_images: whether there are no shares because there are too few images.
    """

    state: DiagnosisState
    failure: str = ""
    shares: tuple[DividedBars, ...] = ()
    too_few_images: bool = False
    gains: Gains | None = None
    bars: tuple[DividedBars, ...] = ()
    mistaken: Mistaken | None = None
    pixels: Pixels | None = None
    min_images: int = MIN_IMAGES

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show, as for layouts of whole people."""
        parts = (self.shares, self.too_few_images, self.gains, self.bars, self.mistaken, self.pixels)
        return self.state is DiagnosisState.KNOWN and not any(parts)


def diagnosis_view(diagnosis: VisibleDiagnosis, classes: Sequence[str]) -> DiagnosisView:
    """Arrange a diagnosis.

    Args:
        diagnosis: what the viewer may see.
        classes: of the competition.
    """
    exact = diagnosis.exact
    if exact is None:
        known = {of: shares for of, shares in (diagnosis.shares or {}).items() if shares is not None}
        return DiagnosisView(
            state=diagnosis.state,
            failure=EXPLANATIONS[diagnosis.failure] if diagnosis.failure is not None else "",
            shares=tuple(_shares(of, shares) for of, shares in known.items()),
            too_few_images=bool(diagnosis.shares) and not known,
        )
    errors = exact.get("errors")
    noun = next((noun for noun in ("images", "people") if f"first_{noun}" in exact), None)
    return DiagnosisView(
        state=DiagnosisState.KNOWN,
        gains=_gains(errors) if errors else None,
        bars=(_first(exact["first_false_positives"]), _objects(errors["per_class"])) if errors else (),
        mistaken=_mistaken(exact[f"first_{noun}"], noun, classes) if noun else None,
        pixels=_pixels(exact) if "confusions" in exact else None,
    )


def _shares(of: str, shares: Mapping[str, float]) -> DividedBars:
    title, note, words = SHARES[of]
    texts = [f"{words[kind][0]} {100 * share:.0f} %" for kind, share in shares.items()]
    bar = divided_bar(title, [(words[kind], share) for kind, share in shares.items()], texts, "")
    series = (words[kind][1] for kind in shares)
    return DividedBars(f"{of}-title".replace("_", "-"), title, note, tuple(zip(series, texts, strict=True)), (bar,))


def _gains(errors: Mapping[str, Any]) -> Gains:
    known = {kind: gain for kind, gain in errors["gain"].items() if gain is not None}
    longest = max([MIN_LENGTH, *known.values()])
    return Gains(
        of_mean=tuple(
            Gain(GAINS[kind], gain, max(gain, 0.0) / longest, errors["counts"].get(kind))
            for kind, gain in known.items()
        ),
        kinds=tuple(GAINS[kind] for kind in errors["gain"]),
        by_class=tuple((name, tuple(each["gain"].values())) for name, each in errors["per_class"].items()),
    )


def _first(first: Mapping[str, Mapping[str, int]]) -> DividedBars:
    return counted_bars(
        "first-title",
        "First false positives",
        "The most confident false positives of each class, at most as many as the class has objects.",
        {kind: RESULTS[kind] for counts in first.values() for kind in counts},
        first,
        "False positives",
    )


def _objects(per_class: Mapping[str, Any]) -> DividedBars:
    counts = {name: each["counts"] for name, each in per_class.items()}
    return counted_bars(
        "objects-title",
        "Objects found and missed",
        "Nearly found: no result matches the object, but one misses it only by localisation or class.",
        OBJECTS,
        {
            name: {
                "right": each["right"],
                "nearly": each["not_found"] - each["missed"],
                "missed": each["missed"],
            }
            for name, each in counts.items()
        },
        "Objects",
    )


def _mistaken(first: Mapping[str, Mapping[str, Any]], noun: str, classes: Sequence[str]) -> Mistaken:
    rows = []
    for name, each in first.items():
        total = each[noun]
        right = round((each["precision"] or 0.0) * total)
        counts = {name: right, **each["mistaken_for"], "none": each["none"]}
        numbers = [counts.get(column, 0) for column in (*classes, "none")]
        rows.append((name, total, tuple((number / total if total else None, number) for number in numbers)))
    return Mistaken(noun, (*classes, "no class"), tuple(rows))


def _pixels(exact: Mapping[str, Any]) -> Pixels:
    boundaries, near = None, None
    if "near_boundaries" in exact:
        places = {
            "Near boundaries": exact["near_boundaries"],
            "Elsewhere": exact["away_from_boundaries"],
        }
        wrong = sum(each["wrong"] for each in places.values())
        near = exact["near_boundaries"]["wrong"] / wrong if wrong else None
        boundaries = counted_bars(
            "boundaries-title",
            "Boundaries",
            "",
            {"right": ("right", 0), "wrong": ("wrong", 1)},
            {name: {"right": each["pixels"] - each["wrong"], "wrong": each["wrong"]} for name, each in places.items()},
            "Pixels",
        )
    return Pixels(
        accuracy=exact["pixel_accuracy"],
        confusions=exact["confusions"][:MAX_CONFUSIONS],
        boundaries=boundaries,
        near=near,
        boundary_iou=tuple(exact.get("boundary_iou", {}).items()),
    )
