"""Upload of ground truth, and its versions. No operation returns any of its content."""

from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request

from vocboard.app.api.paging import DEFAULT_PER_PAGE, FIRST_PAGE, ItemPage, PageNumber, PerPage, item_page, page_of
from vocboard.app.api.problems import UploadProblem, problem_responses
from vocboard.app.api.schemas.challenges import GroundTruthVersion
from vocboard.app.challenges import models
from vocboard.app.challenges import service as challenges
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep
from vocboard.app.web.identity import OrganisingUser

router = APIRouter(tags=["ground truth"])

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
        current = challenges.current_truth(session, challenge)
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
    request: Request, intake: IntakeDep, database: DatabaseDep, user: OrganisingUser, slug: str
) -> GroundTruthVersion:
    """Upload a new version of the ground truth. A worker imports it; the list of versions shows the outcome."""
    version_id = await intake.take_ground_truth(request, slug=slug, user=user)

    def described() -> GroundTruthVersion:
        with database.reading() as session:
            challenge = challenges.get_organised(session, slug, user)
            versions = {version.id: version for version in challenges.ground_truth_versions(session, challenge)}
            return _version(versions[version_id], challenges.current_truth(session, challenge))

    return await to_thread.run_sync(described)


def _version(version: models.GroundTruthVersion, current: models.GroundTruthVersion | None) -> GroundTruthVersion:
    problems = version.problems
    return GroundTruthVersion(
        id=version.id,
        number=version.number,
        created_at=version.created_at,
        file_name=version.file_name,
        state=version.state,
        is_current=current is not None and current.id == version.id,
        competitions=version.competitions,
        problems=None if problems is None else [UploadProblem(**problem) for problem in problems],
    )
