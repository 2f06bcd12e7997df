"""The form of a submission, the declarations about training that competitions require, and answers to fill in.

Source: VOC2010 document, sections 3.2 ("Participants who have acquired images from flickr ..."), 5.2 and 5.3 ("must
also state whether their method used segmentation training data only ...").
"""

import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.errors import InvalidInputError
from vocboard.app.forms import FieldChecks, cleaned
from vocboard.app.submissions.models import Declared, FlickrImages, Method, State, Submission, TrainingAnnotation
from vocboard.evaluator.editions import Competition, Declaration, Edition
from vocboard.evaluator.image_hashes import HashListError, parse_list


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


_MAX_METHODS = 50  # names that are suggested


@dataclass(frozen=True, slots=True)
class PreviousAnswers:
    """Values of the fields of a submission's form.

    Attributes:
        fields: by name; those of the person's account if nothing was submitted yet.
        method: the name of the method whose answers these are; None if they are not of this challenge.
        methods: the names of the person's methods in the challenge, the latest first.
    """

    fields: dict[str, Any]
    method: str | None = None
    methods: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Names:
    """Contributors and affiliation of a submission."""

    contributors: str
    affiliation: str


def previous_names(session: Session, *, user: User, challenge: Challenge) -> Names:
    """Return the names that a submission has if it gives none.

    They are those of the person's last submission to the challenge, or else to any challenge, or else of the account.
    """
    latest = _latest(session, user, challenge) or _latest(session, user)
    if latest is None:
        return Names(user.name, user.affiliation)
    return Names(latest.contributors or user.name, latest.affiliation or user.affiliation)


def _latest(session: Session, user: User, challenge: Challenge | None = None) -> Submission | None:
    """Return the person's last submission that was not withdrawn, to one or any challenge."""
    latest = (
        select(Submission)
        .where(Submission.user_id == user.id, Submission.state != State.WITHDRAWN)
        .order_by(Submission.created_at.desc(), Submission.id.desc())
        .options(joinedload(Submission.method))
        .limit(1)
    )
    return session.scalars(
        latest if challenge is None else latest.where(Submission.challenge_id == challenge.id)
    ).one_or_none()


def previous_answers(session: Session, *, user: User, challenge: Challenge) -> PreviousAnswers:
    """Return the answers of the person's last submission to the challenge, with the names of `previous_names`.

    A list of hashes of images from flickr has to be chosen again, so the answer that goes with it is left open.
    """
    names = previous_names(session, user=user, challenge=challenge)
    fields = {"affiliation": names.affiliation, "contributors": names.contributors}
    here = _latest(session, user, challenge)
    if here is None:
        return PreviousAnswers(fields)
    methods = session.scalars(
        select(Method.name)
        .where(Method.user_id == user.id, Method.challenge_id == challenge.id)
        .order_by(Method.created_at.desc(), Method.id)
        .limit(_MAX_METHODS)
    ).all()
    annotation = here.training_annotation
    return PreviousAnswers(
        {
            **fields,
            "method_name": here.method.name,
            "method_description": here.description,
            "training_data": here.training_data,
            "training_annotation": "" if annotation is None else annotation.value,
            "flickr_images": "no" if here.flickr_images is FlickrImages.NO else "",
            "segmentation_classes": list(here.segmentation_classes or ()),
        },
        here.method.name,
        list(methods),
    )
