"""The metrics of some objects of a class: by size, shape, truncation, occlusion and view.

`evaluator.metrics.object_subsets` computes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from vocboard.evaluator.metrics.shared_metrics import MetricDefinition
from vocboard.evaluator.names import Metric

AREAS = ((0, 32**2), (32**2, 96**2), (96**2, float("inf")))  # pixels, both ends included, as in pycocotools
UNKNOWN, NO, YES = range(3)  # what an annotation says of a flag
UNSPECIFIED, FRONTAL, REAR, LEFT, RIGHT, SIDE = range(6)  # VOC2005 has `Side`, later editions `Left` and `Right`
VIEWS = ("unspecified", "frontal", "rear", "left", "right", "side")


class Characteristic(Enum):
    """Characteristic that divides objects into subsets, and its values."""

    AREA = auto()  # places in `AREAS`
    SIZE = auto()  # 0 to 4, fifths of the class by area
    ASPECT = auto()  # 0 to 4, fifths of the class by width over height
    TRUNCATION = auto()  # `UNKNOWN`, `NO` or `YES`
    OCCLUSION = auto()  # as above
    VIEW = auto()  # places in `VIEWS`


@dataclass(frozen=True, slots=True)
class Subset:
    """Some objects of a class.

    Attributes:
        values: of the characteristic, those of the objects in the subset.
        name: of the subset, for the title of the metric.
        objects: which objects these are, in words.
    """

    characteristic: Characteristic
    values: tuple[int, ...]
    name: str
    objects: str

    def definition(self) -> MetricDefinition:
        """Return the definition of the metric of the subset."""
        is_coco = self.characteristic is Characteristic.AREA
        kind = "Average precision, mean over overlaps of 0.5 to 0.95" if is_coco else "Normalised average precision"
        short = "AP 0.5-0.95" if is_coco else "AP_N"
        return MetricDefinition(
            f"{kind}, {self.name}",
            f"{short}, {self.name.removesuffix(' objects')}",
            uses_interpolation=is_coco,
            undefined="A class without such objects that count is n/a and left out of the mean.",
        )


def _area(place: int, name: str) -> Subset:
    least, most = AREAS[place]
    pixels = f"at least {least:,}" if most == float("inf") else f"{least:,} to {most:,}" if least else f"up to {most:,}"
    return Subset(Characteristic.AREA, (place,), f"{name} objects", f"objects whose box has {pixels} pixels")


def _size(place: int, name: str) -> Subset:
    return Subset(
        Characteristic.SIZE, (place,), f"{name} objects", f"the objects of the class {_SHARES[place]} by area"
    )


def _aspect(place: int, name: str) -> Subset:
    objects = f"the objects of the class {_SHARES[place]} by width over height"
    return Subset(Characteristic.ASPECT, (place,), f"{name} objects", objects)


def _flag(characteristic: Characteristic, value: int, name: str) -> Subset:
    return Subset(characteristic, (value,), f"{name} objects", f"objects that are annotated as {name}")


def _view(name: str, *views: int) -> Subset:
    listed = " or ".join(f"`{VIEWS[view].capitalize()}`" for view in views)
    return Subset(Characteristic.VIEW, views, f"{name} view", f"objects whose annotated view is {listed}")


_SHARES = ("from 0 to 10 %", "from 10 to 30 %", "from 30 to 70 %", "from 70 to 90 %", "from 90 to 100 %")

SUBSETS: Mapping[Metric, Subset] = {
    Metric.AVERAGE_PRECISION_50_95_SMALL: _area(0, "small"),
    Metric.AVERAGE_PRECISION_50_95_MEDIUM: _area(1, "medium"),
    Metric.AVERAGE_PRECISION_50_95_LARGE: _area(2, "large"),
    Metric.NORMALISED_AP_SIZE_EXTRA_SMALL: _size(0, "extra small"),
    Metric.NORMALISED_AP_SIZE_SMALL: _size(1, "small"),
    Metric.NORMALISED_AP_SIZE_MEDIUM: _size(2, "medium"),
    Metric.NORMALISED_AP_SIZE_LARGE: _size(3, "large"),
    Metric.NORMALISED_AP_SIZE_EXTRA_LARGE: _size(4, "extra large"),
    Metric.NORMALISED_AP_ASPECT_EXTRA_TALL: _aspect(0, "extra tall"),
    Metric.NORMALISED_AP_ASPECT_TALL: _aspect(1, "tall"),
    Metric.NORMALISED_AP_ASPECT_MEDIUM: _aspect(2, "medium aspect"),
    Metric.NORMALISED_AP_ASPECT_WIDE: _aspect(3, "wide"),
    Metric.NORMALISED_AP_ASPECT_EXTRA_WIDE: _aspect(4, "extra wide"),
    Metric.NORMALISED_AP_TRUNCATED: _flag(Characteristic.TRUNCATION, YES, "truncated"),
    Metric.NORMALISED_AP_NOT_TRUNCATED: _flag(Characteristic.TRUNCATION, NO, "not truncated"),
    Metric.NORMALISED_AP_OCCLUDED: _flag(Characteristic.OCCLUSION, YES, "occluded"),
    Metric.NORMALISED_AP_NOT_OCCLUDED: _flag(Characteristic.OCCLUSION, NO, "not occluded"),
    Metric.NORMALISED_AP_VIEW_FRONTAL: _view("frontal", FRONTAL),
    Metric.NORMALISED_AP_VIEW_REAR: _view("rear", REAR),
    Metric.NORMALISED_AP_VIEW_LEFT: _view("left", LEFT),
    Metric.NORMALISED_AP_VIEW_RIGHT: _view("right", RIGHT),
    Metric.NORMALISED_AP_VIEW_SIDE: _view("side", LEFT, RIGHT, SIDE),
}
