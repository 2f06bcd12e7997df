"""Files of a challenge that its organisers upload: list, upload, download, delete."""

import uuid
from typing import Any

from anyio import to_thread
from fastapi import Request, Response
from pydantic import Field

from vocboard.app.api.documentation import ELSEWHERE, LOCATED, UNCHANGED, file_responses, upload_form
from vocboard.app.api.paging import ItemPage, Paging
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import Count, FromObject, Instant, Sha256
from vocboard.app.challenges import files, models
from vocboard.app.challenges import service as challenges
from vocboard.app.intake.challenge_files import file_to_send, is_admitted, remove_file
from vocboard.app.intake.organisers import FILE_FIELD, take_file
from vocboard.app.web.attachments import RangeFileResponse, digest, redirect_to_store
from vocboard.app.web.cached_responses import has_tag
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep, StoreDep
from vocboard.app.web.identity import OrganisingUser, Viewer
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes(tags=["challenge files"])

CACHED = "public, max-age=86400"  # of what everyone may have: a file never changes, but may be deleted
UPLOAD_FORM = upload_form(
    {
        "kind": {
            "enum": [kind.value for kind in models.FileKind],
            "default": models.FileKind.DATA.value,
            "description": "`data`: to download. `cover`: the picture at the top of the challenge's pages, which takes "
            "the place of the earlier one. `logo`: of an organiser or a sponsor. `showcase`: a public test image "
            "that results are drawn on, named by its identifier in the test set.",
        },
        "audience": {
            "enum": [audience.value for audience in models.Audience],
            "default": models.Audience.PUBLIC.value,
            "description": "`public`: everyone who can see the challenge. `admitted`: people who may submit to one of "
            "its phases, open or not. Pictures are public.",
        },
        "title": {"type": "string", "maxLength": files.MAX_TITLE_LENGTH, "description": "Default: the file's name."},
        FILE_FIELD: {
            "type": "string",
            "format": "binary",
            "description": "Send it after the other fields. Pictures are PNG, JPEG or WebP, and are re-encoded as "
            "WebP, without metadata.",
        },
    },
    required=[FILE_FIELD],
)
ANY_TYPE = "application/octet-stream"  # first: generated clients read a response as the first type that they know
FILE_RESPONSES: dict[int | str, dict[str, Any]] = file_responses(
    ANY_TYPE, *sorted(files.MEDIA_TYPES - {ANY_TYPE}), format="binary"
)
FILE_RESPONSES |= (
    ELSEWHERE
    | UNCHANGED
    | {
        206: FILE_RESPONSES[200] | {"description": "The parts in `Range`: one, or several as `multipart/byteranges`."},
    }
)


class ChallengeFile(FromObject):
    """A file of a challenge."""

    id: uuid.UUID
    created_at: Instant
    kind: models.FileKind
    audience: models.Audience
    name: str
    title: str = Field(description="May be empty.")
    bytes: Count = Field(validation_alias="byte_count")
    sha256: Sha256 | None = Field(
        description="Of the stored file; of pictures, after they were re-encoded. Null if you may not download it."
    )
    media_type: str


@router.get("/challenges/{slug}/files", responses=problem_responses(401, 403, 404))
def list_files(database: DatabaseDep, viewer: Viewer, slug: str, paging: Paging) -> ItemPage[ChallengeFile]:
    """List the files of a challenge, in the order of their upload, with those for admitted people."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, viewer)
        admitted = is_admitted(session, challenge, viewer)

        def shown(file: models.ChallengeFile) -> ChallengeFile:
            described = ChallengeFile.model_validate(file)
            if not admitted and file.audience is models.Audience.ADMITTED:
                described.sha256 = None
            return described

        return paging.of(files.files_of(session, challenge.id), shown)


@router.post(
    "/challenges/{slug}/files",
    status_code=201,
    responses=problem_responses(400, 401, 403, 404, 409, 415, 429, 507) | LOCATED,
    openapi_extra=UPLOAD_FORM,
)
async def upload_file(
    request: Request, response: Response, intake: IntakeDep, organised: OrganisedByToken
) -> ChallengeFile:
    """Upload a file of a challenge: data, a picture of its pages or of its showcase. For its organisers."""
    file_id = await take_file(intake, request, slug=organised.slug, user=organised.user)
    address = request.app.url_path_for("get_file", slug=organised.slug, file_id=str(file_id))
    response.headers["Location"] = address

    def described() -> ChallengeFile:
        with organised.reading() as (session, challenge):
            return ChallengeFile.model_validate(files.get(session, challenge, file_id))

    return await to_thread.run_sync(described)


@router.get(
    "/challenges/{slug}/files/{file_id}",
    response_class=Response,
    responses=problem_responses(401, 403, 404, 410, 416) | FILE_RESPONSES,
)
def get_file(
    request: Request, database: DatabaseDep, store: StoreDep, viewer: Viewer, slug: str, file_id: uuid.UUID
) -> Response:
    """Return a file, or with `Range` parts of it. `Repr-Digest` has the SHA-256 of the whole file."""
    file, is_public, found = file_to_send(database, store, slug=slug, file_id=file_id, viewer=viewer)
    headers = {"ETag": f'"{file.sha256}"', **digest(file.sha256)}
    headers |= {"Cache-Control": CACHED} if is_public else {}
    if has_tag(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    if isinstance(found, str):
        return redirect_to_store(found, file.sha256)
    return RangeFileResponse(
        found,
        media_type=file.media_type,
        filename=file.name,
        headers=headers,
        stat_result=found.stat(),
        content_disposition_type="inline" if file.kind in files.PICTURE_SIZES else "attachment",
    )


@router.delete("/challenges/{slug}/files/{file_id}", status_code=204, responses=problem_responses(401, 403, 404, 409))
def delete_file(database: DatabaseDep, store: StoreDep, user: OrganisingUser, slug: str, file_id: uuid.UUID) -> None:
    """Delete a file of a challenge. For its organisers. Caches may have a public one for another day."""
    remove_file(database, store, slug=slug, file_id=file_id, user=user)
