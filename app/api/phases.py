"""The phases of a challenge: list, add, change, remove."""

from fastapi import APIRouter, Request, Response

from vocboard.app.api.phase_views import phase_view
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.challenges import ChangedPhase, NewPhase, Phase, PhaseChanges
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phase_changes import note_on_change
from vocboard.app.database import now
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import OrganisingUser, Viewer

router = APIRouter(tags=["challenges"])


@router.get("/challenges/{slug}/phases", responses=problem_responses(401, 403, 404))
def list_phases(database: DatabaseDep, viewer: Viewer, slug: str) -> list[Phase]:
    """List the phases of a challenge, by opening date. Most challenges have one, `main`."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, viewer)
    return [_view(challenge, phase) for phase in challenges.phases_of(challenge)]


@router.post("/challenges/{slug}/phases", status_code=201, responses=problem_responses(400, 401, 403, 404, 409, 422))
def add_phase(
    request: Request, response: Response, database: DatabaseDep, user: OrganisingUser, slug: str, new: NewPhase
) -> Phase:
    """Add a phase with its own dates, quota, detail level, competitions and admission."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        phase = challenges.add_phase(
            session,
            challenge=challenge,
            user=user,
            key=new.key,
            title=new.title,
            rules=new.rules(),
            image_set=new.image_set,
            has_own_truth=new.has_own_ground_truth,
        )
    response.headers["Location"] = request.app.url_path_for("list_phases", slug=slug)
    return _view(challenge, phase)


@router.patch("/challenges/{slug}/phases/{key}", responses=problem_responses(400, 401, 403, 404, 409, 422))
def change_phase(
    database: DatabaseDep, user: OrganisingUser, slug: str, key: str, changes: PhaseChanges
) -> ChangedPhase:
    """Change a phase. Omitted fields are unchanged; a date set to null is removed."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        before = challenges.phase_named(challenge, key)
        note = note_on_change(challenge, before, changes.applied_to(before.rules))
        phase = challenges.change_phase(
            session,
            challenge=challenge,
            user=user,
            key=key,
            title=changes.title if "title" in changes.model_fields_set else None,
            change=changes.applied_to,
        )
    return ChangedPhase(**dict(_view(challenge, phase)), note=note)


@router.delete("/challenges/{slug}/phases/{key}", status_code=204, responses=problem_responses(401, 403, 404, 409))
def remove_phase(database: DatabaseDep, user: OrganisingUser, slug: str, key: str) -> None:
    """Remove a phase that has neither submissions nor ground truth."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        challenges.remove_phase(session, challenge=challenge, user=user, key=key)


def _view(challenge: Challenge, phase: challenges.Phase) -> Phase:
    at = now()
    return phase_view(phase, challenges.current_phase(challenge, at), at)
