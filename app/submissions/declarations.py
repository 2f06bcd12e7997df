"""Declarations about training that the edition's competitions require.

Source: VOC2010 document, sections 3.2 ("Participants who have acquired images from flickr ..."), 5.2 and 5.3 ("must
also state whether their method used segmentation training data only ...").
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vocboard.app.submissions.models import Declared, FlickrImages, TrainingAnnotation
from vocboard.evaluator.editions import Competition, Declaration


@dataclass(frozen=True, slots=True)
class Statement:
    """One required declaration, as text.

    Attributes:
        text: None if not declared.
        brief: the text, or a short form if it may be long.
    """

    declaration: Declaration
    title: str
    text: str | None
    brief: str | None


TITLES: Mapping[Declaration, str] = {
    Declaration.TRAINING_DATA: "Training data",
    Declaration.TRAINING_ANNOTATION: "Training annotation",
    Declaration.FLICKR_IMAGES: "Images from flickr",
}
ANNOTATIONS: Mapping[TrainingAnnotation, str] = {
    TrainingAnnotation.SEGMENTATION_ONLY: "segmentations only",
    TrainingAnnotation.OTHER_ANNOTATION: "also bounding boxes or other annotation",
}


def needed_by(competitions: Iterable[Competition]) -> dict[Declaration, list[str]]:
    """Return the keys of the competitions that require each declaration."""
    needed: dict[Declaration, list[str]] = {}
    for competition in competitions:
        for declaration in competition.declarations:
            needed.setdefault(declaration, []).append(competition.key)
    return {declaration: needed[declaration] for declaration in Declaration if declaration in needed}


def needed_by_each(competitions: Sequence[Competition]) -> dict[Declaration, list[str]]:
    """Return the part of `needed_by` that is required for each of the competitions."""
    return {
        declaration: keys for declaration, keys in needed_by(competitions).items() if len(keys) == len(competitions)
    }


def missing_from(declared: Declared, needed: Mapping[Declaration, Sequence[str]]) -> dict[str, str]:
    """Return error messages by field for missing declarations that reject an upload.

    A training data statement also satisfies the annotation declaration, and images from flickr may be declared later,
    for compatibility with older programs. Missing declarations are shown as not declared.
    """
    wrong = {}
    if Declaration.TRAINING_DATA in needed and not declared.training_data:
        keys = ", ".join(needed[Declaration.TRAINING_DATA])
        wrong["training_data"] = f"For {keys}, describe the training data."
    if (
        Declaration.TRAINING_ANNOTATION in needed
        and declared.training_annotation is None
        and not declared.training_data
    ):
        keys = ", ".join(needed[Declaration.TRAINING_ANNOTATION])
        wrong["training_annotation"] = (
            f"For {keys}, state whether only segmentations were used for training, or also bounding boxes or other "
            f"annotation, or describe the training data."
        )
    return wrong


def statements(declared: Declared, declarations: Iterable[Declaration]) -> tuple[Statement, ...]:
    """Return the required declarations with their values."""
    return tuple(
        Statement(declaration, TITLES[declaration], *_texts(declared, declaration)) for declaration in declarations
    )


def _texts(declared: Declared, declaration: Declaration) -> tuple[str | None, str | None]:
    match declaration:
        case Declaration.TRAINING_DATA:
            return declared.training_data or None, "stated" if declared.training_data else None
        case Declaration.TRAINING_ANNOTATION:
            text = ANNOTATIONS[declared.training_annotation] if declared.training_annotation else None
            return text, text
        case Declaration.FLICKR_IMAGES:
            if declared.flickr_images is FlickrImages.YES:
                text = f"{declared.flickr_count:,}, listed for the organisers"
                return text, f"{declared.flickr_count:,} from flickr"
            no = declared.flickr_images is FlickrImages.NO
            return ("none", "none from flickr") if no else (None, None)
