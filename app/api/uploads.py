"""Resumable uploads of archives, by the tus protocol.

Source: tus resumable upload protocol 1.0.0, https://tus.io/protocols/resumable-upload, with the extensions creation,
expiration and termination.
"""

import uuid
from datetime import UTC
from email.utils import format_datetime
from typing import Annotated, Any

from fastapi import Depends, Header, Query, Request, Response
from pydantic import BaseModel, Field

from vocboard.app.api.documentation import LOCATED
from vocboard.app.api.phases import PhaseKey
from vocboard.app.api.problems import UploadProblem, UploadProblemGroup, problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import ChallengeName, Count, FromObject, Instant
from vocboard.app.api.submissions import Rehearsal
from vocboard.app.errors import ServiceError
from vocboard.app.intake import parts, resumable
from vocboard.app.intake.accepting import Destination, classes_not_entered
from vocboard.app.intake.models import ResumableUpload
from vocboard.app.submissions.forms import needed_by
from vocboard.app.web import tus
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep, SettingsDep
from vocboard.app.web.guides import explained
from vocboard.app.web.identity import ReadingUser, SubmittingUser

PATH = "/api/v1/uploads"
EXTENSIONS = "creation,expiration,termination"
PART_MEDIA_TYPE = "application/offset+octet-stream"
MAX_INTEGER = 2**63 - 1  # of the databases' integers


def _check_version(
    tus_resumable: Annotated[
        str | None,
        Header(
            alias="Tus-Resumable", json_schema_extra={"enum": [tus.VERSION]}, description="Version of the protocol."
        ),
    ] = None,
) -> None:
    tus.check_version(tus_resumable)


router = ApiRoutes(tags=["uploads"])
SPEAKING_TUS = [Depends(_check_version)]
PART: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {PART_MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}},
    }
}


class UnsupportedPartError(ServiceError):
    """The body is not a part of an upload."""

    status, code, title = 415, "unsupported_media_type", "Not a part of an upload"


class Upload(FromObject):
    """A resumable upload. `HEAD` returns the same in the headers of the tus protocol."""

    id: uuid.UUID
    challenge: ChallengeName
    phase: str
    is_rehearsal: bool
    file_name: str
    bytes: Count = Field(validation_alias="byte_count")
    received_bytes: Count = Field(description="Number of bytes received: the offset of the next part.")
    created_at: Instant
    expires_at: Instant


@router.options("/uploads", status_code=204, response_class=Response, include_in_schema=False)
def describe_protocol(settings: SettingsDep) -> Response:
    """Return the version, the extensions and the largest upload in the headers of the protocol."""
    headers = {
        "Tus-Version": tus.VERSION,
        "Tus-Extension": EXTENSIONS,
        "Tus-Max-Size": str(settings.upload_limit_bytes),
    }
    return Response(status_code=204, headers=headers)


@router.post(
    "/uploads",
    status_code=201,
    dependencies=SPEAKING_TUS,
    responses=problem_responses(400, 401, 403, 404, 409, 412, 429, 507) | LOCATED,
)
def create_upload(
    request: Request,
    response: Response,
    intake: IntakeDep,
    user: SubmittingUser,
    challenge: Annotated[str, Query(description="Short name of the challenge to submit to.")],
    upload_length: Annotated[
        int, Header(alias="Upload-Length", ge=1, le=MAX_INTEGER, description="Size of the archive in bytes.")
    ],
    upload_metadata: Annotated[
        str,
        Header(
            alias="Upload-Metadata",
            max_length=2000,
            description="The key `filename`, a space, and the file name in Base64.",
        ),
    ] = "",
    phase: PhaseKey = None,
    rehearsal: Rehearsal = False,
) -> Upload:
    """Begin a resumable upload (tus 1.0.0) of an archive. `Location` is the URL to send its parts to.

    The requirements are those of an upload in one request. When all parts have arrived, submit the archive with `POST
    /challenges/{slug}/submissions?upload=ID`.
    """
    resumable.file_name(upload_metadata)
    created = parts.create(
        intake,
        request,
        Destination(challenge, phase, rehearsal),
        user=user,
        client_metadata=upload_metadata,
        byte_count=upload_length,
    )
    response.headers["Location"] = request.app.url_path_for("get_upload", upload_id=str(created.id))
    response.headers.update(_progress(created))
    return _described(created)


@router.get("/uploads", responses=problem_responses(401, 403))
def list_uploads(database: DatabaseDep, user: ReadingUser) -> list[Upload]:
    """List your own resumable uploads that are not submitted yet, newest first."""
    with database.reading() as session:
        return [_described(upload) for upload in resumable.own(session, user)]


@router.get("/uploads/{upload_id}", dependencies=SPEAKING_TUS, responses=problem_responses(401, 403, 404, 412))
def get_upload(intake: IntakeDep, user: SubmittingUser, upload_id: uuid.UUID, response: Response) -> Upload:
    """Return how much of a resumable upload has arrived. `HEAD` returns it in the headers of the tus protocol."""
    upload = intake.find(upload_id, user)
    response.headers.update(_progress(upload))
    response.headers["Upload-Length"] = str(upload.byte_count)
    if upload.client_metadata:
        response.headers["Upload-Metadata"] = upload.client_metadata
    return _described(upload)


@router.patch(
    "/uploads/{upload_id}",
    status_code=204,
    response_class=Response,
    dependencies=SPEAKING_TUS,
    responses=problem_responses(400, 401, 403, 404, 408, 409, 410, 412, 413, 415, 422, 423, 429, 507),
    openapi_extra=PART,
)
async def send_part(
    request: Request,
    intake: IntakeDep,
    user: SubmittingUser,
    upload_id: uuid.UUID,
    upload_offset: Annotated[
        int,
        Header(
            alias="Upload-Offset",
            ge=0,
            le=MAX_INTEGER,
            description="Offset of the part: the number of bytes received so far.",
        ),
    ],
) -> Response:
    """Send the next part of a resumable upload. Bytes that arrive are kept even if the connection is lost.

    After 409 and 423, request the offset with `HEAD`, and continue from there.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != PART_MEDIA_TYPE:
        raise UnsupportedPartError(f"Send the part with the media type {PART_MEDIA_TYPE}.")
    upload = await parts.append(intake, request, upload_id, user=user, offset=upload_offset)
    return Response(status_code=204, headers=_progress(upload))


class CheckedCompetition(BaseModel):
    """The classes that an upload enters in one competition."""

    classes: list[str]
    not_entered: list[str] = Field(description="Classes of the competition without a result file.")


class UploadReport(BaseModel):
    """The result of checking an upload."""

    valid: bool
    competitions: dict[str, CheckedCompetition] = Field(
        description="What the upload enters, by competition; complete only if the upload is valid."
    )
    declarations: dict[str, list[str]] = Field(
        description="Declarations that these competitions ask for, each with the keys of the competitions that ask "
        "for it."
    )
    problems: list[UploadProblem]
    groups: list[UploadProblemGroup] = Field(
        description="`problems` grouped by cause: errors first, in the order in which to solve them."
    )
    needs_accept_warnings: bool = Field(
        description="Whether warnings are about more than a quarter of the results of a competition, so that the "
        "submission needs `accept_warnings`."
    )
    identical_submission: uuid.UUID | None = Field(
        description="Your latest submission of the same archive to the phase, if there is one."
    )
    allowed_at: Instant | None = Field(
        description="When the quota of these competitions allows the submission; null if it does now, and for archives "
        "with errors."
    )


@router.post("/uploads/{upload_id}/check", responses=problem_responses(401, 403, 404, 409, 422, 423, 429))
async def check_upload(request: Request, intake: IntakeDep, user: SubmittingUser, upload_id: uuid.UUID) -> UploadReport:
    """Check a finished upload without submitting it. This uses no quota.

    Beginning an upload counts as one attempt, which includes one check and the submission. Each further check counts as
    another attempt.
    """
    checked = await intake.check(request, upload_id, user=user)
    report, edition = checked.report, checked.edition
    missing = classes_not_entered(report, edition)
    needed = needed_by(edition.competitions[entry.competition] for entry in report.entries)
    return UploadReport(
        valid=not report.refuses,
        competitions={
            entry.competition: CheckedCompetition(
                classes=list(entry.classes), not_entered=list(missing.get(entry.competition, ()))
            )
            for entry in report.entries
        },
        declarations={name: need.competitions for name, need in needed.items()},
        problems=[UploadProblem.model_validate(problem.as_json()) for problem in report.problems],
        groups=[UploadProblemGroup.model_validate(explained(group)) for group in report.groups],
        needs_accept_warnings=bool(report.doubtful),
        identical_submission=None if checked.identical is None else checked.identical.submission_id,
        allowed_at=None if checked.limit is None else checked.limit.allowed_at,
    )


@router.delete(
    "/uploads/{upload_id}",
    status_code=204,
    response_class=Response,
    dependencies=SPEAKING_TUS,
    responses=problem_responses(401, 403, 404, 412),
)
def cancel_upload(intake: IntakeDep, user: SubmittingUser, upload_id: uuid.UUID) -> Response:
    """Remove a resumable upload. Bytes that have arrived still count towards the limit of bytes in 24 hours."""
    parts.remove(intake, upload_id, user)
    return Response(status_code=204)


def _progress(upload: ResumableUpload) -> dict[str, str]:
    expires = format_datetime(upload.expires_at.astimezone(UTC), usegmt=True)  # as RFC 9110 says
    return {"Upload-Offset": str(upload.received_bytes), "Upload-Expires": expires}


def _described(upload: ResumableUpload) -> Upload:
    return Upload.of(
        upload,
        challenge=upload.challenge.slug,
        phase=upload.phase.key,
        file_name=resumable.file_name(upload.client_metadata),
        bytes=upload.byte_count,
    )
