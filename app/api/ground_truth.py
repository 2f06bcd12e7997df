"""Upload of ground truth, and its versions. No operation returns any of its content."""

import uuid
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Path, Query, Request
from sqlalchemy.orm import Session

from vocboard.app.api.paging import DEFAULT_PER_PAGE, FIRST_PAGE, ItemPage, PageNumber, PerPage, item_page, page_of
from vocboard.app.api.problems import UploadProblem, problem_responses
from vocboard.app.api.schemas.challenges import GroundTruthVersion
from vocboard.app.challenges import ground_truth_versions as versions
from vocboard.app.challenges import models
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.ground_truth import needs_confirmation
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.challenges.phases import phase_with_id
from vocboard.app.intake.organisers import take_ground_truth
from vocboard.app.rescores.queries import latest_by_version
from vocboard.app.rescores.service import MAX_REASON_LENGTH
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep, NotifierDep
from vocboard.app.web.identity import OrganisingUser

router = APIRouter(tags=["ground truth"])

TruthPhase = Annotated[str, Query(alias="phase", description="Key of the phase that the ground truth is for.")]
VersionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]

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
                        },
                        "reason": {
                            "type": "string",
                            "maxLength": MAX_REASON_LENGTH,
                            "description": "Why the ground truth is corrected. If there are submissions, a re-score "
                            "with this reason starts once the version has been imported without warnings.",
                        },
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
        view = _View.of(session, challenge)
        found = challenges.ground_truth_versions(session, challenge)
    return item_page(page_of(found, page=page, per_page=per_page), view.version)


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
    """Upload a version of the ground truth. A worker imports it; `GET` on the same path returns its state.

    With a reason, `rescore` is the id of the re-score to follow and to apply. The re-score fails if the version cannot
    be imported, or has warnings to confirm.
    """
    taken = await take_ground_truth(intake, request, slug=slug, user=user, phase_key=phase)

    def described() -> GroundTruthVersion:
        with database.reading() as session:
            challenge = challenges.get_organised(session, slug, user)
            found = {version.id: version for version in challenges.ground_truth_versions(session, challenge)}
            return _View.of(session, challenge).version(found[taken.version_id])

    return await to_thread.run_sync(described)


@router.post("/challenges/{slug}/ground-truth/{number}/confirm", responses=problem_responses(401, 403, 404, 409))
def confirm_ground_truth(
    database: DatabaseDep, notifier: NotifierDep, user: OrganisingUser, slug: str, number: VersionNumber
) -> GroundTruthVersion:
    """Confirm the warnings of a version's import. If there are no submissions, the version becomes current."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        version = versions.confirm(session, challenge=challenge, user=user, number=number)
        answer = _View.of(session, challenge).version(version)
    notifier.jobs_added()
    return answer


@router.delete(
    "/challenges/{slug}/ground-truth/{number}", status_code=204, responses=problem_responses(401, 403, 404, 409)
)
def remove_ground_truth(database: DatabaseDep, user: OrganisingUser, slug: str, number: VersionNumber) -> None:
    """Remove a version of the ground truth that could not be imported."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        versions.remove_failed(session, challenge=challenge, user=user, number=number)


@dataclass(frozen=True, slots=True)
class _View:
    """A challenge, as the descriptions of its versions need it.

    Attributes:
        current: ids of the versions that count.
        rescores: the latest re-score with each version, by the version's id.
    """

    challenge: models.Challenge
    current: Set[uuid.UUID]
    rescores: Mapping[uuid.UUID, uuid.UUID]

    @classmethod
    def of(cls, session: Session, challenge: models.Challenge) -> "_View":
        current = {version.id for version in challenges.current_versions(session, challenge).values()}
        return cls(challenge, current, latest_by_version(session, challenge))

    def version(self, version: models.GroundTruthVersion) -> GroundTruthVersion:
        problems, is_ready = version.problems, version.state is models.TruthState.READY
        return GroundTruthVersion(
            id=version.id,
            number=version.number,
            phase=phase_with_id(self.challenge, version.phase_id).key,
            created_at=version.created_at,
            file_name=version.file_name,
            state=version.state,
            is_current=version.id in self.current,
            competitions=version.competitions,
            problems=None if problems is None else [UploadProblem(**problem) for problem in problems],
            warnings=[UploadProblem(**warning) for warning in version.warnings or ()],
            needs_confirmation=is_ready and needs_confirmation(version),
            confirmed_at=version.confirmed_at,
            unscorable=dict(versions.unscorable(self.challenge, version)) if is_ready else {},
            summary=version.summary,
            rescore=self.rescores.get(version.id),
        )
