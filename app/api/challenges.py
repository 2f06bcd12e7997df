"""Challenges: list, read, create, change."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query, Request, Response
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.api.documentation import LOCATED, file_responses
from vocboard.app.api.paging import ItemPage, Paging
from vocboard.app.api.phases import PhaseKey, quota_of, views_of_phases
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas import challenges as schemas
from vocboard.app.challenges import samples
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.edition_versions import source_of_version
from vocboard.app.challenges.ground_truth import image_sets_json
from vocboard.app.challenges.models import MAIN_PHASE, Challenge
from vocboard.app.challenges.phases import current_phase, edition_of_phase, phase_named
from vocboard.app.challenges.rules import rules_of
from vocboard.app.database import now
from vocboard.app.leaderboards.service import imported_scores
from vocboard.app.organising import challenge_changes, copying
from vocboard.app.organising.phase_changes import note_on_change
from vocboard.app.submissions.quota import quotas
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import ApiIdentity, OrganisingUser, Viewer
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes(tags=["challenges"])

EDITION_MEDIA_TYPE = "application/toml"


@router.get("/challenges", responses=problem_responses(401, 403))
def list_challenges(database: DatabaseDep, viewer: Viewer, paging: Paging) -> ItemPage[schemas.ChallengeSummary]:
    """List public challenges, private ones that you may see, and challenges that you organise, newest first."""
    at = now()
    with database.reading() as session:
        return paging.of(
            challenges.visible_challenges(session, viewer),
            lambda challenge: schemas.ChallengeSummary.of(challenge, **_common(session, challenge, at)),
        )


@router.get("/challenges/{slug}", responses=problem_responses(401, 403, 404))
def get_challenge(database: DatabaseDep, viewer: Viewer, slug: str) -> schemas.ChallengeDetails:
    """Return one challenge: rules, competitions, dates, and your use of the quota."""
    with database.reading() as session:
        return challenge_details(session, challenges.get_visible(session, slug, viewer), viewer)


@router.get(
    "/challenges/{slug}/image-sets",
    response_class=Response,
    responses=problem_responses(401, 403, 404, 409) | {200: {"model": schemas.PublicImageSets}},
)
def get_image_sets(database: DatabaseDep, viewer: Viewer, slug: str, phase: PhaseKey = None) -> Response:
    """Return the public part of the test set for `vocboard validate --image-sets`: image ids, sizes, person indices."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, viewer)
        chosen = phase_named(challenge, phase) if phase else current_phase(challenge, now())
        content = image_sets_json(session, chosen)
    return Response(content, media_type="application/json")


@router.get(
    "/challenges/{slug}/edition",
    response_class=Response,
    responses=problem_responses(401, 403, 404) | file_responses(EDITION_MEDIA_TYPE),
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
        content = source_of_version(session, challenge, version or challenge.edition_version)
    return Response(
        content,
        media_type=EDITION_MEDIA_TYPE,
        headers={"Content-Disposition": f'attachment; filename="{name}.toml"'},
    )


@router.put("/challenges/{slug}/edition", responses=problem_responses(400, 401, 403, 404, 409, 413, 422))
def replace_edition(
    organised: OrganisedByToken, identity: ApiIdentity, given: schemas.NewEdition
) -> schemas.ChallengeDetails:
    """Replace a custom edition before ground truth is uploaded. Afterwards, use `POST /challenges/{slug}/rescores`."""
    with organised.writing() as (session, challenge):
        challenge_changes.replace_edition_file(
            session, challenge=challenge, user=organised.user, edition_file=given.edition_file
        )
        return challenge_details(session, challenge, identity.reader)


@router.post("/challenges", status_code=201, responses=problem_responses(401, 403, 409) | LOCATED)
def create_challenge(
    request: Request,
    database: DatabaseDep,
    response: Response,
    user: OrganisingUser,
    identity: ApiIdentity,
    new: schemas.NewChallenge,
) -> schemas.ChallengeDetails:
    """Create a challenge. Next, upload its ground truth."""
    with database.writing() as session:
        challenge = challenge_changes.create(
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


@router.post("/challenges/{slug}/copy", status_code=201, responses=problem_responses(401, 403, 404, 409) | LOCATED)
def copy_challenge(
    request: Request,
    response: Response,
    organised: OrganisedByToken,
    identity: ApiIdentity,
    wanted: schemas.ChallengeCopy,
) -> schemas.ChallengeDetails:
    """Create a draft with the edition, the rules and the phases of a challenge.

    It has no dates, people, submissions or ground truth, and shows at most the detail level `curves` of hidden ground
    truth.
    """
    with organised.writing() as (session, challenge):
        new = copying.copy(session, challenge=challenge, user=organised.user, slug=wanted.slug, title=wanted.title)
        details = challenge_details(session, new, identity.reader)
    response.headers["Location"] = request.app.url_path_for("get_challenge", slug=new.slug)
    return details


@router.patch("/challenges/{slug}", responses=problem_responses(400, 401, 403, 404, 409, 422))
def change_challenge(
    organised: OrganisedByToken, identity: ApiIdentity, changes: schemas.ChallengeChanges
) -> schemas.ChangedChallenge:
    """Change a challenge. Omitted fields are unchanged; a date set to null is removed."""
    with organised.writing() as (session, challenge):
        rules = changes.applied_to(rules_of(challenge))
        note = note_on_change(challenge, phase_named(challenge, MAIN_PHASE), rules)
        challenge_changes.update(session, challenge=challenge, user=organised.user, rules=rules)
        return schemas.ChangedChallenge(**dict(challenge_details(session, challenge, identity.reader)), note=note)


@router.get(
    "/challenges/{slug}/samples",
    response_class=Response,
    responses=problem_responses(401, 403, 404, 409, 503) | file_responses("application/zip", format="binary"),
)
def get_samples(organised: OrganisedByToken) -> Response:
    """Return a sample tree and sample results for a custom edition, for rehearsals. For organisers.

    The zip file has `edition.toml`, `ground-truth.tar.gz` and `results.tar.gz`, the same as `vocboard new-edition
    --edition-file` writes.
    """
    return Response(samples.samples_of(organised.load()), media_type="application/zip")


def challenge_details(session: Session, challenge: Challenge, reader: User | None) -> schemas.ChallengeDetails:
    """Return one challenge as the API shows it."""
    use, at = None, now()
    if reader is not None:
        phase = current_phase(challenge, at)
        states = quotas(session, user=reader, challenge=challenge, phase=phase, now=at)
        use = {key: schemas.QuotaUse.model_validate(state) for key, state in states.items()}
    return schemas.ChallengeDetails.of(challenge, **_common(session, challenge, at), quota_use=use)


def _common(session: Session, challenge: Challenge, at: datetime) -> dict[str, Any]:
    """Return what `ChallengeSummary` has beside attributes of the challenge."""
    current = current_phase(challenge, at)
    rules, edition = current.rules, edition_of_phase(challenge, current)
    return {
        "edition_is_own": challenge.edition_file is not None,
        "phase": current.state(at),
        "opens_at": rules.opens_at,
        "closes_at": rules.closes_at,
        "competitions": [schemas.Competition.model_validate(edition.competitions[key]) for key in current.competitions],
        "quota": quota_of(current),
        "detail": rules.detail,
        "imported": imported_scores(session, challenge),
        "current_phase": current.key,
        "phases": views_of_phases(challenge, at),
    }
