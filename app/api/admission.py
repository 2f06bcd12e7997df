"""Admission: requests to take part, and terms that people accept."""

import uuid
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.api.paging import ItemPage, Paging
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas import challenges as challenge_schemas
from vocboard.app.api.schemas.values import Count, FromObject, Given, Instant
from vocboard.app.challenges import admission_requests, phase_people, terms
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, RequestState
from vocboard.app.challenges.rules import rules_of
from vocboard.app.errors import InvalidInputError
from vocboard.app.participating import admission
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import ReadingUser, SubmittingUser, Viewer
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes("/challenges/{slug}", tags=["admission"])
READING = problem_responses(401, 403, 404)
CHANGING = problem_responses(400, 401, 403, 404, 409, 422)
ASKING = problem_responses(400, 401, 403, 404, 409, 422, 429)


class Terms(FromObject):
    """A version of the terms of a challenge."""

    version: Count = Field(validation_alias="number")
    created_at: Instant
    text: str = Field(description="Markdown; empty if there are no terms from then on.")


class CurrentTerms(BaseModel):
    """The terms of a challenge."""

    version: Count | None = Field(description="Number of the current version; null if the challenge has no terms.")
    text: str = Field(description="Markdown.")
    created_at: Instant | None
    accepted_version: Count | None = Field(description="The latest version that you have accepted; null if none.")
    accepted_at: Instant | None


class NewTerms(Given):
    """Terms to accept."""

    text: str = Field(max_length=terms.MAX_LENGTH, description="Markdown; empty to have no terms from now on.")


class AcceptedTerms(Given):
    """Terms that you accept."""

    version: int = Field(description="Number of the current version.")


class Acceptance(BaseModel):
    """That a person has accepted a version of the terms."""

    version: Count
    name: str
    email: str
    accepted_at: Instant


class NewRequest(Given):
    """A request to be admitted."""

    phase: str = Field(MAIN_PHASE, description="Key of the phase.")
    answers: dict[str, str | bool] = Field(
        {}, description="Answers by question, as in `admission_questions` of the challenge; of a box, true or false."
    )


class GivenAnswer(BaseModel):
    """A question as it was asked, and its answer."""

    question: str
    answer: str | bool


class AdmissionRequest(FromObject):
    """A request to be admitted."""

    id: uuid.UUID
    created_at: Instant
    phase: str
    state: RequestState
    answers: list[GivenAnswer]
    reason: str = Field(description="Why it was declined; empty unless it was.")
    decided_at: datetime | None
    name: str | None = Field(description="Name of the person, for organisers; otherwise null.")
    affiliation: str | None
    email: str | None


class DeclineReason(Given):
    """Why a request is declined."""

    reason: str = Field(max_length=admission_requests.MAX_REASON_LENGTH, description="The person is told.")


@router.get("/terms", responses=READING)
def get_terms(database: DatabaseDep, viewer: Viewer, slug: str) -> CurrentTerms:
    """Return the terms that people accept before they submit, and what you have accepted."""
    with database.reading() as session:
        return _current_terms(session, challenges.get_visible(session, slug, viewer), viewer)


@router.get("/terms/versions", responses=READING)
def list_terms(database: DatabaseDep, viewer: Viewer, slug: str) -> list[Terms]:
    """List all versions of the terms, the latest first."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, viewer)
        return [Terms.model_validate(one) for one in terms.versions(session, challenge.id)]


@router.put("/terms", responses=CHANGING)
def set_terms(organised: OrganisedByToken, given: NewTerms) -> CurrentTerms:
    """Set the terms. Another text is another version, which everyone has to accept before the next upload."""
    with organised.writing() as (session, challenge):
        terms.publish(session, challenge=challenge, user=organised.user, text=given.text)
        return _current_terms(session, challenge, organised.user)


@router.post("/terms/accept", responses=CHANGING)
def accept_terms(database: DatabaseDep, user: SubmittingUser, slug: str, given: AcceptedTerms) -> CurrentTerms:
    """Accept the current terms. 409 if they have changed."""
    with database.writing() as session:
        challenge = challenges.get_visible(session, slug, user)
        admission.accept_terms(session, challenge=challenge, user=user, version=given.version)
        return _current_terms(session, challenge, user)


@router.get("/terms/acceptances", responses=READING)
def list_acceptances(organised: OrganisedByToken, paging: Paging) -> ItemPage[Acceptance]:
    """List who has accepted which version of the terms, in the order of time. For organisers."""
    with organised.reading() as (session, challenge):
        return paging.of(
            terms.acceptances(session, challenge.id),
            lambda one: Acceptance(
                version=one.terms.number, name=one.user.name, email=one.user.email, accepted_at=one.created_at
            ),
        )


@router.get("/admission-requests", responses=READING)
def list_requests(organised: OrganisedByToken, paging: Paging) -> ItemPage[AdmissionRequest]:
    """List requests to be admitted, open ones first. For organisers."""
    with organised.reading() as (session, challenge):
        found = admission_requests.page_of_requests(session, challenge.id, **paging.chosen)
        return paging.page_of(found, lambda one: _shown(one, one.user))


@router.get("/admission-requests/mine", responses=READING)
def list_own_requests(database: DatabaseDep, user: ReadingUser, slug: str) -> list[AdmissionRequest]:
    """List your requests to be admitted, at most one for each phase."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, user)
        return [_shown(one) for one in admission_requests.own_requests(session, challenge.id, user).values()]


@router.post("/admission-requests", status_code=201, responses=ASKING)
def request_admission(database: DatabaseDep, user: SubmittingUser, slug: str, given: NewRequest) -> AdmissionRequest:
    """Ask to be admitted to a phase. The organisers are told, and you are told what they decide."""
    with database.writing() as session:
        challenge = challenges.get_visible(session, slug, user)
        try:
            admission.ask(session, challenge=challenge, phase_key=given.phase, user=user, answers=given.answers)
        except InvalidInputError as error:
            asked = enumerate(rules_of(challenge).admission_questions, 1)
            names = {f"answer-{number}": f"answers.{one.question}" for number, one in asked}
            raise InvalidInputError({names.get(name, name): text for name, text in error.fields.items()}) from None
        [made] = [
            one
            for one in admission_requests.own_requests(session, challenge.id, user).values()
            if one.phase.key == given.phase
        ]
        return _shown(made)


@router.delete("/admission-requests/{phase}", status_code=204, responses=CHANGING)
def withdraw_request(database: DatabaseDep, user: SubmittingUser, slug: str, phase: str) -> None:
    """Withdraw your open request to be admitted to a phase."""
    with database.writing() as session:
        challenge = challenges.get_visible(session, slug, user)
        admission.withdraw(session, challenge=challenge, phase_key=phase, user=user)


@router.post("/admission-requests/{request_id}/admit", responses=CHANGING)
def admit_request(organised: OrganisedByToken, request_id: uuid.UUID) -> challenge_schemas.PhaseAdmission:
    """Admit a person who has asked, and is told. 409 if the request has been decided."""
    with organised.writing() as (session, challenge):
        made = phase_people.admit_request(session, challenge=challenge, user=organised.user, request_id=request_id)
        return challenge_schemas.PhaseAdmission.of(made, phase=made.phase.key)


@router.post("/admission-requests/{request_id}/decline", responses=CHANGING)
def decline_request(organised: OrganisedByToken, request_id: uuid.UUID, given: DeclineReason) -> AdmissionRequest:
    """Decline a request. The person is told the reason. 409 if the request has been decided."""
    with organised.writing() as (session, challenge):
        found = admission_requests.decline(
            session, challenge=challenge, user=organised.user, request_id=request_id, reason=given.reason
        )
        return _shown(found, found.user)


def _current_terms(session: Session, challenge: Challenge, viewer: User | None) -> CurrentTerms:
    current = terms.current(session, challenge.id)
    acceptance = terms.accepted(session, challenge.id, viewer) if viewer is not None else None
    return CurrentTerms(
        version=current.number if current else None,
        text=current.text if current else "",
        created_at=current.created_at if current else None,
        accepted_version=acceptance.terms.number if acceptance else None,
        accepted_at=acceptance.created_at if acceptance else None,
    )


def _shown(found: Any, person: User | None = None) -> AdmissionRequest:
    return AdmissionRequest.of(
        found,
        phase=found.phase.key,
        name=person.name if person else None,
        affiliation=person.affiliation if person else None,
        email=person.email if person else None,
    )
