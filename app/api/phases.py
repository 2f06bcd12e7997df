"""The phases of a challenge: list, add, change, remove; who is admitted to them, and who has extra quota."""

import uuid
from datetime import datetime
from typing import Annotated

from fastapi import Query, Request, Response

from vocboard.app.api.documentation import LOCATED
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas import challenges as schemas
from vocboard.app.challenges import phase_people
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, current_phase, phase_named, phases_of
from vocboard.app.database import now
from vocboard.app.organising import challenge_changes, phase_changes
from vocboard.app.organising.phase_changes import note_on_change
from vocboard.app.submissions import quota as quota_rule
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import Viewer
from vocboard.app.web.organised import OrganisedByToken, OrganisedChallenge

router = ApiRoutes("/challenges/{slug}", tags=["challenges"])
PhaseKey = Annotated[str | None, Query(description="Key of a phase; by default, the current one.")]
READING = problem_responses(401, 403, 404)


@router.get("/phases", responses=READING)
def list_phases(database: DatabaseDep, viewer: Viewer, slug: str) -> list[schemas.Phase]:
    """List the phases of a challenge, by opening date. Most challenges have one, `main`."""
    with database.reading() as session:
        return views_of_phases(challenges.get_visible(session, slug, viewer), now())


@router.post("/phases", status_code=201, responses=problem_responses(401, 403, 404, 409) | LOCATED)
def add_phase(
    request: Request, response: Response, organised: OrganisedByToken, new: schemas.NewPhase
) -> schemas.Phase:
    """Add a phase with its own dates, quota, detail level, competitions and admission."""
    with organised.writing() as (session, challenge):
        phase = phase_changes.add_phase(
            session,
            challenge=challenge,
            user=organised.user,
            key=new.key,
            title=new.title,
            rules=new.rules(),
            image_set=new.image_set,
            has_own_truth=new.has_own_ground_truth,
        )
    response.headers["Location"] = request.app.url_path_for("get_phase", slug=organised.slug, key=phase.key)
    return _view(challenge, phase)


@router.get("/phases/{key}", responses=READING)
def get_phase(database: DatabaseDep, viewer: Viewer, slug: str, key: str) -> schemas.Phase:
    """Return one phase of a challenge."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, viewer)
        return _view(challenge, phase_named(challenge, key))


@router.patch("/phases/{key}", responses=problem_responses(400, 401, 403, 404, 409, 422))
def change_phase(organised: OrganisedByToken, key: str, changes: schemas.PhaseChanges) -> schemas.ChangedPhase:
    """Change a phase. Omitted fields are unchanged; a date set to null is removed."""
    with organised.writing() as (session, challenge):
        before = phase_named(challenge, key)
        note = note_on_change(challenge, before, changes.applied_to(before.rules))
        phase = challenge_changes.change_phase(
            session,
            challenge=challenge,
            user=organised.user,
            key=key,
            title=changes.title if "title" in changes.model_fields_set else None,
            change=changes.applied_to,
        )
    return schemas.ChangedPhase(**dict(_view(challenge, phase)), note=note)


@router.delete("/phases/{key}", status_code=204, responses=problem_responses(401, 403, 404, 409))
def remove_phase(organised: OrganisedByToken, key: str) -> None:
    """Remove a phase that has neither submissions nor ground truth."""
    organised.change(phase_changes.remove_phase, key=key)


@router.get("/admissions", responses=READING)
def list_admissions(organised: OrganisedByToken) -> list[schemas.PhaseAdmission]:
    """List the people who are admitted to the phases of a challenge, oldest first. For its organisers."""
    with organised.reading() as (session, challenge):
        return [
            schemas.PhaseAdmission.of(one, phase=one.phase.key) for one in phase_people.admissions(session, challenge)
        ]


@router.post("/admissions", status_code=201, responses=problem_responses(400, 401, 403, 404, 409, 422, 429))
def admit(organised: OrganisedByToken, given: schemas.NewAdmission) -> schemas.PhaseAdmission:
    """Admit a person, with or without an account, to a phase that is not open to everyone."""
    [admitted] = _admit(organised, given.phase, [given.email], "email", tell=given.tell)
    return admitted


@router.post("/admissions/batch", status_code=201, responses=problem_responses(400, 401, 403, 404, 409, 422, 429))
def admit_several(organised: OrganisedByToken, given: schemas.NewAdmissions) -> list[schemas.PhaseAdmission]:
    """Admit people to a phase: all of them, or none if an address is invalid."""
    return _admit(organised, given.phase, given.emails, "emails", tell=given.tell)


def _admit(
    organised: OrganisedChallenge, phase: str, emails: list[str], field: str, *, tell: bool
) -> list[schemas.PhaseAdmission]:
    with organised.writing() as (session, challenge):
        admitted = phase_people.admit(
            session,
            challenge=challenge,
            phase=phase_named(challenge, phase),
            organiser=organised.user,
            emails=emails,
            field=field,
            tell=tell,
            site=organised.site,
        )
        return [schemas.PhaseAdmission.of(one, phase=one.phase.key) for one in admitted]


@router.delete("/admissions/{admission_id}", status_code=204, responses=problem_responses(401, 403, 404, 409))
def end_admission(organised: OrganisedByToken, admission_id: uuid.UUID) -> None:
    """End a person's admission to a phase. Existing submissions are kept."""
    with organised.writing() as (session, challenge):
        phase_people.end_admission(session, challenge=challenge, organiser=organised.user, admission_id=admission_id)


@router.get("/extra-quotas", responses=READING)
def list_extra_quotas(organised: OrganisedByToken) -> list[schemas.ExtraQuota]:
    """List the extra quota of a challenge, newest first. For its organisers."""
    with organised.reading() as (session, challenge):
        return [
            schemas.ExtraQuota.of(one, phase=one.phase.key) for one in phase_people.extra_quotas(session, challenge)
        ]


@router.post("/extra-quotas", status_code=201, responses=problem_responses(400, 401, 403, 404, 409, 422))
def grant_extra_quota(organised: OrganisedByToken, given: schemas.NewExtraQuota) -> schemas.ExtraQuota:
    """Let a person make more submissions than the quota allows, until a date."""
    with organised.writing() as (session, challenge):
        phase = phase_named(challenge, given.phase)
        grant = phase_people.grant_extra_quota(
            session, challenge=challenge, organiser=organised.user, **dict(given) | {"phase": phase}
        )
        return schemas.ExtraQuota.of(grant, phase=grant.phase.key)


@router.patch("/extra-quotas/{grant_id}", responses=problem_responses(400, 401, 403, 404, 409, 422))
def change_extra_quota(
    organised: OrganisedByToken, grant_id: uuid.UUID, changes: schemas.ExtraQuotaChanges
) -> schemas.ExtraQuota:
    """Change a person's extra quota. Omitted fields are unchanged."""
    with organised.writing() as (session, challenge):
        grant = phase_people.change_extra_quota(
            session, challenge=challenge, organiser=organised.user, grant_id=grant_id, **changes.model_dump()
        )
        return schemas.ExtraQuota.of(grant, phase=grant.phase.key)


@router.delete("/extra-quotas/{grant_id}", status_code=204, responses=problem_responses(401, 403, 404, 409))
def end_extra_quota(organised: OrganisedByToken, grant_id: uuid.UUID) -> None:
    """Revoke extra quota. Submissions made with it are kept."""
    with organised.writing() as (session, challenge):
        phase_people.end_extra_quota(session, challenge=challenge, organiser=organised.user, grant_id=grant_id)


def views_of_phases(challenge: Challenge, at: datetime) -> list[schemas.Phase]:
    """Return the phases of a challenge as everybody may see them, by opening date."""
    current = current_phase(challenge, at)
    return [
        schemas.Phase.of(
            phase.rules,
            key=phase.key,
            title=phase.title,
            state=phase.state(at),
            is_current=phase.key == current.key,
            competitions=list(phase.competitions),
            image_set=phase.image_set,
            has_own_ground_truth=phase.has_own_truth,
            quota=quota_of(phase),
            freezes_at=phase.freezes_at,
        )
        for phase in phases_of(challenge)
    ]


def _view(challenge: Challenge, phase: Phase) -> schemas.Phase:
    return next(view for view in views_of_phases(challenge, now()) if view.key == phase.key)


def quota_of(phase: Phase) -> schemas.Quota:
    """Return the quota rule of a phase."""
    rules = phase.rules
    return schemas.Quota(
        count=rules.quota_count,
        period_seconds=rules.quota_period_seconds,
        shared=rules.shared_quota,
        rule=quota_rule.sentence(rules),
    )
