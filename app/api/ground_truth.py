"""Upload of ground truth, and its versions. No operation returns any of its content."""

import uuid
from collections.abc import Callable
from typing import Annotated

from anyio import to_thread
from fastapi import Path, Query
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from vocboard.app.api.documentation import upload_form
from vocboard.app.api.paging import ItemPage, Paging
from vocboard.app.api.problems import UploadProblem, problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import Count, FromObject, Instant
from vocboard.app.challenges import ground_truth as versions
from vocboard.app.challenges import models, queries
from vocboard.app.challenges.ground_truth import current_versions, needs_confirmation
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.challenges.phases import phase_with_id
from vocboard.app.intake.organisers import take_ground_truth
from vocboard.app.rescores.queries import latest_by_version
from vocboard.app.rescores.service import MAX_REASON_LENGTH
from vocboard.app.web.dependencies import IntakeDep
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes(tags=["ground truth"])

TruthPhase = Annotated[str, Query(alias="phase", description="Key of the phase that the ground truth is for.")]
VersionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]

UPLOAD_FORM = upload_form(
    {
        "archive": {
            "type": "string",
            "format": "binary",
            "description": "Archive of a development kit tree: annotations, image sets, label maps.",
        },
        "reason": {
            "type": "string",
            "maxLength": MAX_REASON_LENGTH,
            "description": "Why the ground truth is corrected. If there are submissions, a re-score with this reason "
            "starts once the version has been imported without warnings.",
        },
    },
    required=["archive"],
)


class SetInNumbers(BaseModel):
    """What the image set of a task contains."""

    images: Count
    people: Count | None = Field(None, description="null for tasks without people.")
    missing: str | None = Field(None, description="Why the task cannot be scored; null if it can.")
    classes: dict[str, dict[str, int]] | None = Field(
        None, description="Images and objects by class, and in total; null if they are not counted."
    )


class GroundTruthVersion(FromObject):
    """One version of the ground truth. Its content is never returned."""

    id: uuid.UUID
    number: Count
    phase: str = Field(description="Key of the phase that it was uploaded for.")
    created_at: Instant
    file_name: str
    state: models.TruthState
    is_current: bool = Field(description="Whether submissions are scored with this version.")
    competitions: list[str] | None = Field(description="Keys of the competitions that it can score.")
    problems: list[UploadProblem] | None = Field(
        description="Errors that made the import fail; null if it has not failed."
    )
    warnings: list[UploadProblem] = Field(description="Warnings of the import, with counts.")
    needs_confirmation: bool = Field(description="Whether its warnings must be confirmed before it can become current.")
    confirmed_at: Instant | None
    unscorable: dict[str, str] = Field(
        description="Competitions of the challenge that it cannot score, each with the reason."
    )
    summary: dict[str, SetInNumbers] | None = Field(
        description="By task and image set: images, people, and images and objects by class."
    )
    rescore: uuid.UUID | None = Field(description="The latest re-score of all submissions with it, if there is one.")


@router.get("/challenges/{slug}/ground-truth", responses=problem_responses(401, 403, 404))
def list_ground_truth(organised: OrganisedByToken, paging: Paging) -> ItemPage[GroundTruthVersion]:
    """List the versions of a challenge's ground truth, newest first. For its organisers."""
    with organised.reading() as (session, challenge):
        return paging.of(queries.truth_versions(session, challenge.id), _describe(session, challenge))


@router.post(
    "/challenges/{slug}/ground-truth",
    status_code=202,
    responses=problem_responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 429),
    openapi_extra=UPLOAD_FORM,
)
async def upload_ground_truth(
    intake: IntakeDep, organised: OrganisedByToken, phase: TruthPhase = MAIN_PHASE
) -> GroundTruthVersion:
    """Upload a version of the ground truth. A worker imports it; `GET` on the same path returns its state.

    With a reason, `rescore` is the id of the re-score to follow and to apply. The re-score fails if the version cannot
    be imported, or has warnings to confirm.
    """
    taken = await take_ground_truth(
        intake, organised.request, slug=organised.slug, user=organised.user, phase_key=phase
    )

    def described() -> GroundTruthVersion:
        with organised.reading() as (session, challenge):
            found = {version.id: version for version in queries.truth_versions(session, challenge.id)}
            return _describe(session, challenge)(found[taken.version_id])

    return await to_thread.run_sync(described)


@router.post("/challenges/{slug}/ground-truth/{number}/confirm", responses=problem_responses(401, 403, 404, 409))
def confirm_ground_truth(organised: OrganisedByToken, number: VersionNumber) -> GroundTruthVersion:
    """Confirm the warnings of a version's import. If there are no submissions, the version becomes current."""
    with organised.writing() as (session, challenge):
        version = versions.confirm(session, challenge=challenge, user=organised.user, number=number)
        return _describe(session, challenge)(version)


@router.delete(
    "/challenges/{slug}/ground-truth/{number}", status_code=204, responses=problem_responses(401, 403, 404, 409)
)
def remove_ground_truth(organised: OrganisedByToken, number: VersionNumber) -> None:
    """Remove a version of the ground truth that could not be imported."""
    organised.change(versions.remove_failed, number=number)


def _describe(
    session: Session, challenge: models.Challenge
) -> Callable[[models.GroundTruthVersion], GroundTruthVersion]:
    """Return what describes versions of a challenge."""
    current = {version.id for version in current_versions(session, challenge).values()}
    rescores = latest_by_version(session, challenge)

    def described(version: models.GroundTruthVersion) -> GroundTruthVersion:
        is_ready = version.state is models.TruthState.READY
        return GroundTruthVersion.of(
            version,
            phase=phase_with_id(challenge, version.phase_id).key,
            is_current=version.id in current,
            warnings=version.warnings or [],
            needs_confirmation=is_ready and needs_confirmation(version),
            unscorable=dict(versions.unscorable(challenge, version)) if is_ready else {},
            rescore=rescores.get(version.id),
        )

    return described
