"""What a participant says of a submission."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from vocboard.app.forms.characters import cleaned
from vocboard.app.forms.fields import FieldChecks
from vocboard.app.submissions.declarations import missing_from
from vocboard.app.submissions.models import Declared, FlickrImages, TrainingAnnotation
from vocboard.evaluator.editions import Declaration, Edition
from vocboard.evaluator.image_hashes import HashListError, parse_list

_Choice = TypeVar("_Choice", bound=StrEnum)

LONGEST_METHOD_NAME = 100
LONGEST_DESCRIPTION = 10_000
LONGEST_CONTRIBUTORS = 1_000
LONGEST_AFFILIATION = 200
LONGEST_TRAINING_STATEMENT = 10_000
LONGEST_ARCHIVE_NAME = 255


@dataclass(frozen=True, slots=True)
class ListedImages:
    """A list of image hashes that has been read once.

    Attributes:
        count: how many images it lists.
        packed: as the database stores it; None for an empty one.
        error: what is wrong with it; then it lists none.
    """

    count: int = 0
    packed: bytes | None = None
    error: str | None = None


NO_IMAGES = ListedImages()


def read_listed_images(text: str) -> ListedImages:
    """Read the list that `vocboard hash-images` prints: a large one takes a second, so not in the event loop."""
    try:
        hashes = parse_list(text)
    except HashListError as error:
        return ListedImages(error=str(error))
    if not hashes:
        return NO_IMAGES
    return ListedImages(len(hashes), gzip.compress("".join(f"{hashed}\n" for hashed in hashes).encode(), mtime=0))


@dataclass(frozen=True, slots=True)
class SubmissionForm:
    """The fields that come with an archive, as they were typed.

    Attributes:
        description: of the method.
        training_data: what it was trained on; some competitions ask for it, as for the next three.
        training_annotation: one of `TrainingAnnotation`; empty if it is not declared.
        flickr_images: one of `FlickrImages`; empty if it is not declared.
        flickr_image_hashes: of the images from flickr that it was trained on.
        segmentation_classes: those entered in the segmentation competitions; None for all.
        archive_name: the name of the uploaded file.
    """

    method_name: str
    description: str = ""
    contributors: str = ""
    affiliation: str = ""
    training_data: str = ""
    training_annotation: str = ""
    flickr_images: str = ""
    flickr_image_hashes: ListedImages = NO_IMAGES
    segmentation_classes: tuple[str, ...] | None = None
    archive_name: str = ""


def checked(
    form: SubmissionForm, *, edition: Edition, needed: Mapping[Declaration, Sequence[str]] | None = None
) -> SubmissionForm:
    """Return the form with its white space tidied.

    Args:
        needed: declarations that must be there, and the competitions that ask for them.

    Raises:
        InvalidInputError: with a message for every field that is wrong.
    """
    checks = FieldChecks()
    tidied = replace(
        form,
        method_name=checks.line("method_name", form.method_name, longest=LONGEST_METHOD_NAME, required=True),
        description=checks.text("method_description", form.description, longest=LONGEST_DESCRIPTION),
        contributors=checks.line("contributors", form.contributors, longest=LONGEST_CONTRIBUTORS),
        affiliation=checks.line("affiliation", form.affiliation, longest=LONGEST_AFFILIATION),
        training_data=checks.text("training_data", form.training_data, longest=LONGEST_TRAINING_STATEMENT),
        archive_name=_shortened(form.archive_name),
    )
    declared = checked_declarations(checks, tidied)
    for field, message in missing_from(declared, needed or {}).items():
        checks.fail(field, message)
    if form.segmentation_classes is not None:
        unknown = set(form.segmentation_classes) - set(edition.classes)
        if unknown or not form.segmentation_classes:
            checks.fail("segmentation_classes", f"Name at least one class out of {', '.join(edition.classes)}.")
    checks.finish()
    return tidied


def checked_declarations(checks: FieldChecks, form: SubmissionForm) -> Declared:
    """Return what a form declares, or note what is wrong with it."""
    annotation = _choice(checks, "training_annotation", form.training_annotation, TrainingAnnotation)
    flickr = _choice(checks, "flickr_images", form.flickr_images, FlickrImages)
    count, error = form.flickr_image_hashes.count, form.flickr_image_hashes.error
    if error is not None:
        checks.fail("flickr_image_hashes", f"{error} Create the list with: vocboard hash-images DIRECTORY")
    if flickr is FlickrImages.YES and not count:
        checks.fail(
            "flickr_image_hashes", "Add the list of image hashes. Create it with: vocboard hash-images DIRECTORY"
        )
    if flickr is not FlickrImages.YES and count:
        checks.fail("flickr_images", "You added a list of flickr images. Choose “yes” here, or remove the list.")
    return Declared(form.training_data, annotation, flickr, count)


def unpack_hashes(packed: bytes | None) -> str:
    """Return the list that `ListedImages.packed` holds."""
    return gzip.decompress(packed).decode() if packed else ""


def _choice(checks: FieldChecks, field: str, value: str, choices: type[_Choice]) -> _Choice | None:
    """One of the values of an enumeration; None where nothing was chosen, or noted if it is none of them."""
    if not value or value in set(choices):
        return choices(value) if value else None
    checks.fail(field, f"Choose {' or '.join(choices)}.")
    return None


def _shortened(name: str) -> str:
    """A file's name as the database keeps it: what can be seen of it, its end kept."""
    return cleaned(name)[-LONGEST_ARCHIVE_NAME:]
