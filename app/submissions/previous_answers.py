"""What a person answered in the form of an earlier submission, to fill in the next one."""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.submissions.models import FlickrImages, Method, State, Submission

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
