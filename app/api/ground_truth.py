"""Upload of ground truth, and its versions. No operation returns any of its content."""

import uuid
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session

from vocboard.app.api.paging import DEFAULT_PER_PAGE, FIRST_PAGE, ItemPage, PageNumber, PerPage, item_page, page_of
from vocboard.app.api.problems import UploadProblem, problem_responses
from vocboard.app.api.schemas.challenges import GroundTruthVersion
from vocboard.app.challenges import models
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep
from vocboard.app.web.identity import OrganisingUser

router = APIRouter(tags=["ground truth"])

TruthPhase = Annotated[str, Query(alias="phase", description="Key of the phase that it is for.")]

UPLOAD_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["archive"],
                    "properties": {
                        "archive": {
                            "type": "string",
                            "format": "binary",
                            "description": "Archive of a development kit tree: annotations, image sets, label maps.",
                        }
                    },
                }
            }
        },
    }
}


@router.get("/challenges/{slug}/ground-truth", responses=problem_responses(401, 403, 404))
def list_ground_truth(
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[GroundTruthVersion]:
    """List the versions of a challenge's ground truth, newest first. For its organisers."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        current = _current_ids(session, challenge)
        versions = challenges.ground_truth_versions(session, challenge)
    listed = page_of(versions, page=page, per_page=per_page)
    return item_page(listed, lambda version: _version(version, current))


@router.post(
    "/challenges/{slug}/ground-truth",
    status_code=202,
    responses=problem_responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 429),
    openapi_extra=UPLOAD_FORM,
)
async def upload_ground_truth(
    request: Request,
    intake: IntakeDep,
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    phase: TruthPhase = MAIN_PHASE,
) -> GroundTruthVersion:
    """Upload a version of the ground truth. A worker imports it; the list says how that went."""
    version_id = await intake.take_ground_truth(request, slug=slug, user=user, phase_key=phase)

    def described() -> GroundTruthVersion:
        with database.reading() as session:
            challenge = challenges.get_organised(session, slug, user)
            versions = {version.id: version for version in challenges.ground_truth_versions(session, challenge)}
            return _version(versions[version_id], _current_ids(session, challenge))

    return await to_thread.run_sync(described)


def _current_ids(session: Session, challenge: models.Challenge) -> set[uuid.UUID]:
    return {version.id for version in challenges.current_versions(session, challenge).values()}


def _version(version: models.GroundTruthVersion, current: set[uuid.UUID]) -> GroundTruthVersion:
    problems = version.problems
    return GroundTruthVersion(
        id=version.id,
        number=version.number,
        phase=version.phase_key,
        created_at=version.created_at,
        file_name=version.file_name,
        state=version.state,
        is_current=version.id in current,
        competitions=version.competitions,
        problems=None if problems is None else [UploadProblem(**problem) for problem in problems],
    )
