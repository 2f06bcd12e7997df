"""The form of a submission, the declarations that competitions ask for, and answers to fill in.

Source: VOC2010 document, sections 3.2 ("Participants who have acquired images from flickr ..."), 5.2 and 5.3 ("must
also state whether their method used segmentation training data only ...").
"""

import gzip
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import User
from vocboard.app.accounts.removal import DELETED_NAME
from vocboard.app.challenges.models import Challenge
from vocboard.app.errors import InvalidInputError
from vocboard.app.forms import FieldChecks, cleaned
from vocboard.app.submissions.models import Declared, FlickrImages, Method, State, Submission
from vocboard.app.submissions.queries import owned_by
from vocboard.evaluator.declarations import BUILT_IN, FLICKR_IMAGES, TRAINING_ANNOTATION, TRAINING_DATA
from vocboard.evaluator.editions import Competition, Declaration, DeclarationKind, Edition
from vocboard.evaluator.image_hashes import HashListError, parse_list


@dataclass(frozen=True, slots=True)
class Needed:
    """A declaration, and the keys of the competitions that ask for it."""

    declaration: Declaration
    competitions: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Statement:
    """One declaration that a competition asks for, with its value.

    Attributes:
        value: as stored; None if not declared.
        text: the value in words, a number with its unit; None if not declared.
        brief: the text, or a form of it that can be read without its title.
    """

    declaration: Declaration
    value: str | float | None
    text: str | None
    brief: str | None


def declarations_of(edition: Edition) -> dict[str, Declaration]:
    """Return the declarations that submissions may make, by name: the built-in ones first."""
    own = (each for competition in edition.competitions.values() for each in competition.declarations)
    return {**BUILT_IN, **{each.name: each for each in own}}


def needed_by(competitions: Iterable[Competition]) -> dict[str, Needed]:
    """Return what competitions ask for, by name: the built-in declarations first."""
    needed: dict[str, Needed] = {}
    for competition in competitions:
        for declaration in competition.declarations:
            needed.setdefault(declaration.name, Needed(declaration)).competitions.append(competition.key)
    return {name: needed[name] for name in (*BUILT_IN, *needed) if name in needed}


def needed_by_each(competitions: Sequence[Competition]) -> dict[str, Needed]:
    """Return the part of `needed_by` that each of the competitions asks for."""
    return {name: need for name, need in needed_by(competitions).items() if len(need.competitions) == len(competitions)}


def declaration_labels(needed: Mapping[str, Needed]) -> dict[str, str]:
    """Return the labels of the fields for declarations that the edition defines."""
    return {name: need.declaration.title for name, need in needed.items() if name not in BUILT_IN}


def missing_from(declared: Declared, needed: Mapping[str, Needed]) -> dict[str, str]:
    """Return error messages by field for missing declarations that reject an upload.

    A training data statement also satisfies the annotation declaration, and those that are not required may be made
    later. Missing declarations are shown as not declared.
    """
    wrong = {}
    for name, need in needed.items():
        declaration = need.declaration
        if not declaration.is_required or declared.value(declaration) is not None:
            continue
        if declaration == TRAINING_ANNOTATION and declared.value(TRAINING_DATA) is not None:
            continue
        wrong[name] = f"For {', '.join(need.competitions)}, {_request(declaration)}."
    return wrong


def _request(declaration: Declaration) -> str:
    if declaration == TRAINING_DATA:
        return "describe the training data"
    if declaration == TRAINING_ANNOTATION:
        return (
            "state whether only segmentations were used for training, or also bounding boxes or other annotation, or "
            "describe the training data"
        )
    match declaration.kind:
        case DeclarationKind.NUMBER:
            return f"enter a number{', in ' * bool(declaration.unit)}{declaration.unit}"
        case DeclarationKind.CHOICE:
            return f"choose {' or '.join(declaration.choices)}"
    return "fill this in"


def statements(declared: Declared, declarations: Iterable[Declaration]) -> tuple[Statement, ...]:
    """Return declarations with their values."""
    return tuple(_statement(declared, declaration) for declaration in declarations)


def _statement(declared: Declared, declaration: Declaration) -> Statement:
    value = declared.value(declaration)
    if value is None:
        return Statement(declaration, None, None, None)
    if declaration == FLICKR_IMAGES:
        listed = f"{declared.flickr_count:,}"
        is_none = value == FlickrImages.NO
        text = "none" if is_none else f"{listed}, listed for the organisers"
        return Statement(declaration, value, text, f"{'none' if is_none else listed} from flickr")
    if isinstance(value, str):
        text = declaration.choices.get(value, value)
    else:
        text = f"{format_number(value)} {declaration.unit}".strip()
    brief = text if declaration.name in BUILT_IN else f"{declaration.title}: {text}"
    return Statement(declaration, value, text, brief)


def format_number(value: float, *, grouped: bool = True) -> str:
    """Return a declared number as text, in groups of three digits for people.

    >>> format_number(86600.0), format_number(86600.0, grouped=False), format_number(12.5)
    ('86,600', '86600', '12.5')
    """
    return f"{value:,.15g}" if grouped else f"{value:.15g}"


def as_fields(declarations: Mapping[str, str | float]) -> dict[str, str]:
    """Return declarations as people would enter them."""
    return {
        name: value if isinstance(value, str) else format_number(value, grouped=False)
        for name, value in declarations.items()
    }


_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

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
        declarations: about the method, by name; empty texts are not declared.
        flickr_image_hashes: of the images from flickr that it was trained on.
        segmentation_classes: those entered in the segmentation competitions; None for all.
        archive_name: the name of the uploaded file.
        publish: whether to publish the result as soon as it is scored.
    """

    method_name: str
    description: str = ""
    contributors: str | None = ""
    affiliation: str | None = ""
    declarations: Mapping[str, str | float] = field(default_factory=dict)
    flickr_image_hashes: ListedImages = NO_IMAGES
    segmentation_classes: tuple[str, ...] | None = None
    archive_name: str = ""
    publish: bool = False


def read_form(form: SubmissionForm, edition: Edition) -> tuple[SubmissionForm, Declared, dict[str, str]]:
    """Return the form with normalised white space, its declarations, and the errors by field.

    The declarations of the returned form have their types, and only those that are made and that the edition knows.

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
        declarations={
            name: value
            for name, declaration in declarations_of(edition).items()
            if (value := _checked_value(checks, declaration, form.declarations.get(name, ""))) != ""
        },
        archive_name=_shortened(form.archive_name),
    )
    flickr = tidied.declarations.get(FLICKR_IMAGES.name)
    count, error = form.flickr_image_hashes.count, form.flickr_image_hashes.error
    if error is not None:
        checks.fail("flickr_image_hashes", f"{error} Create the list with: vocboard hash-images DIRECTORY")
    if flickr == FlickrImages.YES and not count:
        checks.fail(
            "flickr_image_hashes", "Add the list of image hashes. Create it with: vocboard hash-images DIRECTORY"
        )
    if flickr != FlickrImages.YES and count:
        checks.fail("flickr_images", "You added a list of flickr images. Choose “yes” here, or remove the list.")
    if form.segmentation_classes is not None:
        unknown = set(form.segmentation_classes) - set(edition.classes)
        if unknown or not form.segmentation_classes:
            checks.fail("segmentation_classes", f"Choose at least one of {', '.join(edition.classes)}.")
    return tidied, Declared(tidied.declarations, count), checks.messages


def checked(
    form: SubmissionForm, *, edition: Edition, needed: Mapping[str, Needed] | None = None
) -> tuple[SubmissionForm, Declared]:
    """Validate the form; return it with normalised white space, and its declarations.

    Args:
        needed: what the competitions ask for, by name.

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


def _checked_value(checks: FieldChecks, declaration: Declaration, given: str | float) -> str | float:
    """Return the value of a declaration; an empty text if there is none. Record an error if it is not of its kind."""
    name = declaration.name
    match declaration.kind:
        case DeclarationKind.TEXT:
            return checks.text(name, str(given), max_length=MAX_TRAINING_STATEMENT_LENGTH)
        case DeclarationKind.CHOICE:
            if given != "" and given not in declaration.choices:
                checks.fail(name, f"Choose {' or '.join(declaration.choices)}.")
                return ""
            return str(given)
    text = str(given).strip()
    if _NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    if text:
        checks.fail(name, "Enter a number that is at least 0, such as 25.6.")
    return ""


def _shortened(name: str) -> str:
    """Return a file name for the database: visible characters only, shortened at the start; programs may send none."""
    return cleaned(name).strip()[-MAX_ARCHIVE_NAME_LENGTH:] or "archive"


_MAX_METHODS = 50  # names that are suggested


@dataclass(frozen=True, slots=True)
class PreviousAnswers:
    """Values of the fields of a submission's form.

    Attributes:
        fields: by name; those of the person's account if nothing was submitted yet.
        method: the name of the method whose answers these are; None if they are not of this challenge.
        methods: the names of the team's methods in the challenge, the latest first.
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

    They are those of the last submission of the team to the challenge, or else of the person's teams to any challenge,
    or else of the account.
    """
    latest = _latest(session, user, challenge) or _latest(session, user)
    if latest is None:
        return Names(user.name, user.affiliation)
    # The person may have registered again.
    contributors = "" if latest.contributors == DELETED_NAME else latest.contributors
    return Names(contributors or user.name, latest.affiliation or user.affiliation)


def _latest(session: Session, user: User, challenge: Challenge | None = None) -> Submission | None:
    """Return the last submission of the person's teams that was not withdrawn, to one or any challenge."""
    latest = (
        select(Submission)
        .where(owned_by(user), Submission.state != State.WITHDRAWN)
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
        .where(Method.challenge_id == challenge.id, Method.id.in_(select(Submission.method_id).where(owned_by(user))))
        .order_by(Method.created_at.desc(), Method.id)
        .limit(_MAX_METHODS)
    ).all()
    declared = as_fields(here.declarations)
    if declared.get(FLICKR_IMAGES.name) == FlickrImages.YES:
        declared[FLICKR_IMAGES.name] = ""
    return PreviousAnswers(
        {
            **fields,
            "method_name": here.method.name,
            "method_description": here.description,
            **dict.fromkeys(BUILT_IN, ""),
            **declared,
            "segmentation_classes": list(here.segmentation_classes or ()),
        },
        here.method.name,
        list(methods),
    )
