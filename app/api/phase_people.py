"""Admission of people to phases, and their extra quota."""

import uuid

from fastapi import APIRouter

from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.challenges import (
    ExtraQuota,
    ExtraQuotaChanges,
    NewAdmission,
    NewAdmissions,
    NewExtraQuota,
    PhaseAdmission,
)
from vocboard.app.challenges import models, phase_people
from vocboard.app.challenges import service as challenges
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import OrganisingUser

router = APIRouter(tags=["challenges"])


@router.get("/challenges/{slug}/admissions", responses=problem_responses(401, 403, 404))
def list_admissions(database: DatabaseDep, user: OrganisingUser, slug: str) -> list[PhaseAdmission]:
    """List the people who are admitted to the phases of a challenge, oldest first. For its organisers."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        return [_admission(one) for one in phase_people.admissions(session, challenge)]


@router.post("/challenges/{slug}/admissions", status_code=201, responses=problem_responses(400, 401, 403, 404, 422))
def admit(database: DatabaseDep, user: OrganisingUser, slug: str, given: NewAdmission) -> PhaseAdmission:
    """Admit a person, with or without an account, to a phase that is not open to everyone."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        phase = challenges.phase_named(challenge, given.phase)
        [admission] = phase_people.admit(
            session, challenge=challenge, phase=phase, organiser=user, emails=[given.email]
        )
        return _admission(admission)


@router.post(
    "/challenges/{slug}/admissions/batch", status_code=201, responses=problem_responses(400, 401, 403, 404, 422)
)
def admit_several(database: DatabaseDep, user: OrganisingUser, slug: str, given: NewAdmissions) -> list[PhaseAdmission]:
    """Admit people to a phase: all of them, or none if an address is invalid."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        phase = challenges.phase_named(challenge, given.phase)
        admitted = phase_people.admit(
            session, challenge=challenge, phase=phase, organiser=user, emails=given.emails, field="emails"
        )
        return [_admission(one) for one in admitted]


@router.delete(
    "/challenges/{slug}/admissions/{admission_id}", status_code=204, responses=problem_responses(401, 403, 404)
)
def end_admission(database: DatabaseDep, user: OrganisingUser, slug: str, admission_id: uuid.UUID) -> None:
    """End a person's admission to a phase. Existing submissions are kept."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        phase_people.end_admission(session, challenge=challenge, organiser=user, admission_id=admission_id)


@router.get("/challenges/{slug}/extra-quotas", responses=problem_responses(401, 403, 404))
def list_extra_quotas(database: DatabaseDep, user: OrganisingUser, slug: str) -> list[ExtraQuota]:
    """List the extra quota of a challenge, newest first. For its organisers."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        return [_extra(one) for one in phase_people.extra_quotas(session, challenge)]


@router.post("/challenges/{slug}/extra-quotas", status_code=201, responses=problem_responses(400, 401, 403, 404, 422))
def grant_extra_quota(database: DatabaseDep, user: OrganisingUser, slug: str, given: NewExtraQuota) -> ExtraQuota:
    """Let a person make more submissions than the quota allows, until a date."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        grant = phase_people.grant_extra_quota(
            session,
            challenge=challenge,
            phase=challenges.phase_named(challenge, given.phase),
            organiser=user,
            email=given.email,
            count=given.count,
            until=given.until,
            reason=given.reason,
        )
        return _extra(grant)


@router.patch("/challenges/{slug}/extra-quotas/{grant_id}", responses=problem_responses(400, 401, 403, 404, 409, 422))
def change_extra_quota(
    database: DatabaseDep, user: OrganisingUser, slug: str, grant_id: uuid.UUID, changes: ExtraQuotaChanges
) -> ExtraQuota:
    """Change a person's extra quota. Omitted fields are unchanged."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        grant = phase_people.change_extra_quota(
            session, challenge=challenge, organiser=user, grant_id=grant_id, **changes.model_dump()
        )
        return _extra(grant)


@router.delete(
    "/challenges/{slug}/extra-quotas/{grant_id}", status_code=204, responses=problem_responses(401, 403, 404)
)
def end_extra_quota(database: DatabaseDep, user: OrganisingUser, slug: str, grant_id: uuid.UUID) -> None:
    """Revoke extra quota. Submissions made with it are kept."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        phase_people.end_extra_quota(session, challenge=challenge, organiser=user, grant_id=grant_id)


def _admission(one: models.PhaseAdmission) -> PhaseAdmission:
    return PhaseAdmission(id=one.id, created_at=one.created_at, email=one.email, phase=one.phase.key)


def _extra(one: models.ExtraQuota) -> ExtraQuota:
    return ExtraQuota(
        id=one.id,
        created_at=one.created_at,
        email=one.email,
        phase=one.phase.key,
        count=one.count,
        until=one.until,
        reason=one.reason,
    )
