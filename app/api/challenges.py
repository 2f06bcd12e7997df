"""Challenges: list, read, create, change."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.api.paging import DEFAULT_PER_PAGE, FIRST_PAGE, ItemPage, PageNumber, PerPage, item_page, page_of
from vocboard.app.api.phase_views import PhaseKey, phase_view, quota_of
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.challenges import (
    ChallengeChanges,
    ChallengeCopy,
    ChallengeDetails,
    ChallengeSummary,
    ChangedChallenge,
    Competition,
    EditionFile,
    NewChallenge,
    QuotaUse,
)
from vocboard.app.challenges import copying
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import MAIN_PHASE, Challenge
from vocboard.app.challenges.phase_changes import note_on_change
from vocboard.app.database import now
from vocboard.app.leaderboards.service import imported_scores
from vocboard.app.quotas.service import quotas
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import ApiIdentity, OrganisingUser, Viewer
from vocboard.evaluator.editions import Competition as EditionCompetition

router = APIRouter(tags=["challenges"])

EDITION_MEDIA_TYPE = "application/toml"
_EDITION_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {EDITION_MEDIA_TYPE: {"schema": {"type": "string"}}}}
}
_IMAGE_SETS: dict[int | str, dict[str, Any]] = {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}


@router.get("/challenges", responses=problem_responses(401, 403))
def list_challenges(
    database: DatabaseDep, viewer: Viewer, page: PageNumber = FIRST_PAGE, per_page: PerPage = DEFAULT_PER_PAGE
) -> ItemPage[ChallengeSummary]:
    """List public challenges and challenges that you organise, newest first."""
    with database.reading() as session:
        listed = page_of(challenges.visible_challenges(session, viewer), page=page, per_page=per_page)
        return item_page(listed, partial(_summary, session))


@router.get("/challenges/{slug}", responses=problem_responses(401, 403, 404))
def get_challenge(database: DatabaseDep, viewer: Viewer, slug: str) -> ChallengeDetails:
    """Return one challenge: rules, competitions, dates, and your use of the quota."""
    with database.reading() as session:
        return challenge_details(session, challenges.get_visible(session, slug, viewer), viewer)


@router.get(
    "/challenges/{slug}/image-sets",
    response_class=Response,
    responses=problem_responses(401, 403, 404, 409) | _IMAGE_SETS,
)
def get_image_sets(database: DatabaseDep, viewer: Viewer, slug: str, phase: PhaseKey = None) -> Response:
    """Return the public part of the test set for `vocboard validate --image-sets`: image ids, sizes, person indices."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, viewer)
        chosen = challenges.phase_named(challenge, phase) if phase else challenges.current_phase(challenge, now())
        content = challenges.image_sets_json(session, chosen)
    return Response(content, media_type="application/json")


@router.get(
    "/challenges/{slug}/edition", response_class=Response, responses=problem_responses(401, 403, 404) | _EDITION_FILE
)
def get_edition(
    database: DatabaseDep,
    viewer: Viewer,
    slug: str,
    version: Annotated[
        int | None,
        Query(
            ge=1, le=2**31 - 1, description="Number of a version that is or was current; by default, the current one."
        ),
    ] = None,
) -> Response:
    """Return the edition file, for `vocboard validate` and `evaluate`: classes, competitions, result files, metrics."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, viewer)
        name = challenge.edition
        content = challenges.source_of_version(session, challenge, version or challenge.edition_version)
    return Response(
        content,
        media_type=EDITION_MEDIA_TYPE,
        headers={"Content-Disposition": f'attachment; filename="{name}.toml"'},
    )


@router.put("/challenges/{slug}/edition", responses=problem_responses(400, 401, 403, 404, 409, 413, 422))
def replace_edition(
    database: DatabaseDep, user: OrganisingUser, identity: ApiIdentity, slug: str, given: EditionFile
) -> ChallengeDetails:
    """Replace a custom edition before ground truth is uploaded. Afterwards, use `POST /challenges/{slug}/rescores`."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        challenges.replace_edition_file(session, challenge=challenge, user=user, edition_file=given.edition_file)
        return challenge_details(session, challenge, identity.reader)


@router.post("/challenges", status_code=201, responses=problem_responses(400, 401, 403, 409, 422))
def create_challenge(
    request: Request,
    database: DatabaseDep,
    response: Response,
    user: OrganisingUser,
    identity: ApiIdentity,
    new: NewChallenge,
) -> ChallengeDetails:
    """Create a challenge. Next, upload its ground truth."""
    with database.writing() as session:
        challenge = challenges.create(
            session,
            organiser=user,
            slug=new.slug,
            edition=new.edition,
            edition_file=new.edition_file,
            rules=new.rules(),
        )
        details = challenge_details(session, challenge, identity.reader)
    response.headers["Location"] = request.app.url_path_for("get_challenge", slug=challenge.slug)
    return details


@router.post("/challenges/{slug}/copy", status_code=201, responses=problem_responses(400, 401, 403, 404, 409, 422))
def copy_challenge(
    request: Request,
    database: DatabaseDep,
    response: Response,
    user: OrganisingUser,
    identity: ApiIdentity,
    slug: str,
    wanted: ChallengeCopy,
) -> ChallengeDetails:
    """Create a draft with the edition, the rules and the phases of a challenge.

    It has no dates, people, submissions or ground truth, and shows at most the detail level `curves` of hidden ground
    truth.
    """
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        new = copying.copy(session, challenge=challenge, user=user, slug=wanted.slug, title=wanted.title)
        details = challenge_details(session, new, identity.reader)
    response.headers["Location"] = request.app.url_path_for("get_challenge", slug=new.slug)
    return details


@router.patch("/challenges/{slug}", responses=problem_responses(400, 401, 403, 404, 409, 422))
def change_challenge(
    database: DatabaseDep, user: OrganisingUser, identity: ApiIdentity, slug: str, changes: ChallengeChanges
) -> ChangedChallenge:
    """Change a challenge. Omitted fields are unchanged; a date set to null is removed."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        rules = changes.applied_to(challenges.rules_of(challenge))
        note = note_on_change(challenge, challenges.phase_named(challenge, MAIN_PHASE), rules)
        challenges.update(session, challenge=challenge, user=user, rules=rules)
        return ChangedChallenge(**dict(challenge_details(session, challenge, identity.reader)), note=note)


def _summary(session: Session, challenge: Challenge) -> ChallengeSummary:
    return ChallengeSummary(**_common(session, challenge, now()))


def challenge_details(session: Session, challenge: Challenge, reader: User | None) -> ChallengeDetails:
    """Return one challenge as the API shows it."""
    use, at = None, now()
    if reader is not None:
        phase = challenges.current_phase(challenge, at)
        states = quotas(session, user=reader, challenge=challenge, phase=phase, now=at)
        use = {
            key: QuotaUse(used=state.used, allowed=state.allowed, allowed_at=state.allowed_at)
            for key, state in states.items()
        }
    return ChallengeDetails(**_common(session, challenge, at), description=challenge.description, quota_use=use)


def _common(session: Session, challenge: Challenge, at: datetime) -> dict[str, Any]:
    current = challenges.current_phase(challenge, at)
    rules, edition = current.rules, challenges.edition_of_phase(challenge, current)
    return {
        "slug": challenge.slug,
        "title": challenge.title,
        "edition": challenge.edition,
        "edition_is_own": challenge.edition_file is not None,
        "edition_version": challenge.edition_version,
        "visibility": challenge.visibility,
        "phase": current.state(at),
        "opens_at": rules.opens_at,
        "closes_at": rules.closes_at,
        "competitions": [_competition(edition.competitions[key]) for key in current.competitions],
        "quota": quota_of(current),
        "decimals": challenge.decimals,
        "detail": rules.detail,
        "anywhere_on_earth": challenge.anywhere_on_earth,
        "statistics": challenge.statistics,
        "imported": imported_scores(session, challenge),
        "current_phase": current.key,
        "phases": [phase_view(phase, current, at) for phase in challenges.phases_of(challenge)],
    }


def _competition(competition: EditionCompetition) -> Competition:
    return Competition(
        key=competition.key,
        number=competition.number,
        task=competition.task,
        variant=competition.variant,
        training=competition.training,
        image_set=competition.image_set,
        metric=competition.rules.metric,
        classes=list(competition.classes),
        result_file=competition.result_file,
        declarations=list(competition.declarations),
    )
