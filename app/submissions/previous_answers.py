"""What a person answered in the form of an earlier submission, to fill in the next one."""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.submissions.models import FlickrImages, Method, Submission

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


def previous_answers(session: Session, *, user: User, challenge: Challenge) -> PreviousAnswers:
    """Return the answers of the person's last submission to the challenge.

    Without one, contributors and affiliation are those of the last submission to any challenge, or of the account.

    A list of hashes of images from flickr has to be chosen again, so the answer that goes with it is left open.
    """
    latest = (
        select(Submission)
        .where(Submission.user_id == user.id)
        .order_by(Submission.created_at.desc(), Submission.id.desc())
        .options(joinedload(Submission.method))
        .limit(1)
    )
    fields = {"affiliation": user.affiliation, "contributors": user.name}
    here = session.scalars(latest.where(Submission.challenge_id == challenge.id)).one_or_none()
    anywhere = here or session.scalars(latest).one_or_none()
    if anywhere is None:
        return PreviousAnswers(fields)
    fields = {"affiliation": anywhere.affiliation, "contributors": anywhere.contributors}
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
