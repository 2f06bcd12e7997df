"""The form of a submission."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from vocboard.app.errors import InvalidInputError
from vocboard.app.forms.characters import cleaned
from vocboard.app.forms.fields import FieldChecks
from vocboard.app.submissions.declarations import missing_from
from vocboard.app.submissions.models import Declared, FlickrImages, TrainingAnnotation
from vocboard.evaluator.editions import Declaration, Edition
from vocboard.evaluator.image_hashes import HashListError, parse_list

_Choice = TypeVar("_Choice", bound=StrEnum)

MAX_METHOD_NAME_LENGTH = 100
MAX_DESCRIPTION_LENGTH = 10_000
MAX_CONTRIBUTORS_LENGTH = 1_000
MAX_AFFILIATION_LENGTH = 200
MAX_TRAINING_STATEMENT_LENGTH = 10_000
MAX_ARCHIVE_NAME_LENGTH = 255


@dataclass(frozen=True, slots=True)
class ListedImages:
    """A parsed list of image hashes.

    Attributes:
        count: number of images.
        packed: compressed, as stored in the database; None for an empty list.
        error: why the list is invalid; it is then empty.
    """

    count: int = 0
    packed: bytes | None = None
    error: str | None = None


NO_IMAGES = ListedImages()


def read_listed_images(text: str) -> ListedImages:
    """Parse the output of `vocboard hash-images`. Can take a second, so do not call it in the event loop."""
    try:
        hashes = parse_list(text)
    except HashListError as error:
        return ListedImages(error=str(error))
    if not hashes:
        return NO_IMAGES
    return ListedImages(len(hashes), gzip.compress("".join(f"{hashed}\n" for hashed in hashes).encode(), mtime=0))


@dataclass(frozen=True, slots=True)
class SubmissionForm:
    """The form fields of an upload, as entered.

    Attributes:
        description: of the method.
        contributors, affiliation: None for those of the last submission or the account; see `previous_answers`.
        training_data: what it was trained on; some competitions ask for it, as for the next three.
        training_annotation: one of `TrainingAnnotation`; empty if it is not declared.
        flickr_images: one of `FlickrImages`; empty if it is not declared.
        flickr_image_hashes: of the images from flickr that it was trained on.
        segmentation_classes: those entered in the segmentation competitions; None for all.
        archive_name: the name of the uploaded file.
        publish: whether to publish the result as soon as it is scored.
    """

    method_name: str
    description: str = ""
    contributors: str | None = ""
    affiliation: str | None = ""
    training_data: str = ""
    training_annotation: str = ""
    flickr_images: str = ""
    flickr_image_hashes: ListedImages = NO_IMAGES
    segmentation_classes: tuple[str, ...] | None = None
    archive_name: str = ""
    publish: bool = False


def read_form(form: SubmissionForm, edition: Edition) -> tuple[SubmissionForm, Declared, dict[str, str]]:
    """Return the form with normalised white space, its declarations, and the errors by field.

    Whether the competitions require more declarations is not checked: see `missing_from`.
    """
    checks = FieldChecks()
    tidied = replace(
        form,
        method_name=checks.line("method_name", form.method_name, max_length=MAX_METHOD_NAME_LENGTH, required=True),
        description=checks.text("method_description", form.description, max_length=MAX_DESCRIPTION_LENGTH),
        contributors=None
        if form.contributors is None
        else checks.line("contributors", form.contributors, max_length=MAX_CONTRIBUTORS_LENGTH),
        affiliation=None
        if form.affiliation is None
        else checks.line("affiliation", form.affiliation, max_length=MAX_AFFILIATION_LENGTH),
        training_data=checks.text("training_data", form.training_data, max_length=MAX_TRAINING_STATEMENT_LENGTH),
        archive_name=_shortened(form.archive_name),
    )
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
    if form.segmentation_classes is not None:
        unknown = set(form.segmentation_classes) - set(edition.classes)
        if unknown or not form.segmentation_classes:
            checks.fail("segmentation_classes", f"Choose at least one of {', '.join(edition.classes)}.")
    return tidied, Declared(tidied.training_data, annotation, flickr, count), checks.messages


def checked(
    form: SubmissionForm, *, edition: Edition, needed: Mapping[Declaration, Sequence[str]] | None = None
) -> tuple[SubmissionForm, Declared]:
    """Validate the form; return it with normalised white space, and its declarations.

    Args:
        needed: required declarations, and the competitions that require them.

    Raises:
        InvalidInputError: with a message for every invalid field.
    """
    tidied, declared, wrong = read_form(form, edition)
    wrong = {**missing_from(declared, needed or {}), **wrong}
    if wrong:
        raise InvalidInputError(wrong)
    return tidied, declared


def unpack_hashes(packed: bytes | None) -> str:
    """Return the list stored in `ListedImages.packed`."""
    return gzip.decompress(packed).decode() if packed else ""


def _choice(checks: FieldChecks, field: str, value: str, choices: type[_Choice]) -> _Choice | None:
    """Return a member of an enumeration; None if nothing was chosen. Record an error for other values."""
    if not value or value in set(choices):
        return choices(value) if value else None
    checks.fail(field, f"Choose {' or '.join(choices)}.")
    return None


def _shortened(name: str) -> str:
    """Return a file name for the database: visible characters only, shortened at the start."""
    return cleaned(name)[-MAX_ARCHIVE_NAME_LENGTH:]
