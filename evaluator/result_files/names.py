"""The name of a result file, and what it belongs to; what other data sets call classes."""

from collections.abc import Mapping
from dataclasses import dataclass

from vocboard.evaluator.rules import Competition

# What other data sets call VOC's classes. Source: COCO's and Open Images' categories.
SYNONYMS = {
    "airplane": "aeroplane",
    "bike": "bicycle",
    "couch": "sofa",
    "motorcycle": "motorbike",
    "television": "tvmonitor",
    "tv": "tvmonitor",
    "televisionset": "tvmonitor",
    "houseplant": "pottedplant",
    "cattle": "cow",
}


@dataclass(frozen=True, slots=True)
class FileName:
    """The competition and class or image of a result file.

    Attributes:
        label: class or action; None for label maps, and for files with all classes.
        image: image of a label map; otherwise None.
    """

    competition: Competition
    label: str | None = None
    image: str | None = None


def expected_name(competition: Competition, label: str | None = None, image: str | None = None) -> str:
    """Return the name of a result file below `results/<edition>/`."""
    fields: Mapping[str, str | None] = {
        "competition": competition.key,
        "image_set": competition.image_set,
        "class": label,
        "image": image,
    }
    return competition.rules.file.format_map(fields)
