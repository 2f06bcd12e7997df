"""Declarations about a method that competitions ask for: three that every edition knows, and others of its file.

Source: VOC2010 document, sections 3.2, 5.2 and 5.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class DeclarationKind(StrEnum):
    """The type of a declaration's value."""

    TEXT = "text"  # in words
    CHOICE = "choice"  # one of several values
    NUMBER = "number"  # at least 0; a column of leaderboards that can be sorted


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration about a method that competitions can ask for.

    Attributes:
        name: of the field of forms and of the API, for example `ms_per_image`.
        choices: for a choice, what each value means; empty for other kinds.
        unit: of a number; empty if it has none.
        is_required: whether an upload without it is refused. Others can be made later; until then, they are shown as
            not declared.
    """

    name: str
    title: str
    kind: DeclarationKind = DeclarationKind.TEXT
    choices: Mapping[str, str] = field(default_factory=dict, hash=False)
    unit: str = ""
    is_required: bool = True

    @property
    def heading(self) -> str:
        """The title with the unit.

        >>> Declaration("parameters", "Parameters", DeclarationKind.NUMBER, unit="million").heading
        'Parameters, million'
        """
        return f"{self.title}, {self.unit}" if self.unit else self.title

    @property
    def column(self) -> str:
        """The name of its column in CSV, and in addresses of leaderboards."""
        return f"declared_{self.name}"


TRAINING_DATA = Declaration("training_data", "Training data")  # what the method was trained on, in words
TRAINING_ANNOTATION = Declaration(  # for segmentation
    "training_annotation",
    "Training annotation",
    DeclarationKind.CHOICE,
    {"segmentation_only": "segmentations only", "other_annotation": "also bounding boxes or other annotation"},
)
FLICKR_IMAGES = Declaration(  # the test set contains images from flickr; if "yes", with a list of hashes
    "flickr_images",
    "Images from flickr",
    DeclarationKind.CHOICE,
    {"no": "none", "yes": "some"},
    is_required=False,
)
BUILT_IN: Mapping[str, Declaration] = {each.name: each for each in (TRAINING_DATA, TRAINING_ANNOTATION, FLICKR_IMAGES)}

# An edition cannot use these names: other fields of a submission have them, or elements and properties of its form.
RESERVED_NAMES = frozenset(
    (
        *("method_name", "method_description", "contributors", "affiliation", "paper_url", "code_url", "note"),
        *("archive", "archive_sha256", "flickr_image_hashes", "flickr_image_count", "segmentation_classes"),
        *("publish", "accept_warnings", "submit_incomplete", "submit_identical", "csrf_token", "upload"),
        *("action", "description", "elements", "id", "length", "method", "methods", "name", "reset", "submit"),
        *("target", "training", "main", "declarations"),
    )
)
