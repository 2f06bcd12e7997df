"""Submissions: upload, list, read, change, publish, withdraw, create an anonymous link."""

import uuid
from functools import partial
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Header, Query, Request, Response

from vocboard.app.api.documentation import ELSEWHERE, LOCATED, file_responses, upload_form
from vocboard.app.api.paging import ItemPage, PagingByTime
from vocboard.app.api.phases import PhaseKey
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas import submissions as schemas
from vocboard.app.api.submission_views import OwnSubmission, accepted, details, summary
from vocboard.app.challenges import files
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.evaluations import showcase
from vocboard.app.forms import FilterInstant
from vocboard.app.intake.accepting import Destination
from vocboard.app.intake.service import SubmissionRequest
from vocboard.app.organising import moderation
from vocboard.app.participating import describing, publishing
from vocboard.app.participating import withdrawing as service
from vocboard.app.submissions import forms, queries
from vocboard.app.submissions.downloading import download
from vocboard.app.submissions.filters import OwnFilters, SubmissionKind
from vocboard.app.submissions.idempotency import MAX_KEY_LENGTH
from vocboard.app.submissions.models import FlickrImages, TrainingAnnotation
from vocboard.app.web.attachments import attachment
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep, SettingsDep, StoreDep
from vocboard.app.web.identity import ApiIdentity, ReadingUser, SubmittingUser, Viewer

router = ApiRoutes(tags=["submissions"])

Rehearsal = Annotated[
    bool,
    Query(description="For organisers: test the challenge. No leaderboard shows the result, and it uses no quota."),
]
UploadId = Annotated[
    uuid.UUID | None,
    Query(
        description="Id of a finished resumable upload (`POST /api/v1/uploads`) that has the archive; the form then "
        "has no `archive`. Without `Idempotency-Key`, this id is the idempotency key."
    ),
]
RequireAllClasses = Annotated[
    bool,
    Query(
        description="Whether to refuse results that leave out classes of a competition: with 409, the code "
        "`incomplete_entry` and the classes in `not_entered`, before any quota is used."
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=MAX_KEY_LENGTH,
        pattern="^[!-~]+$",
        description="A random value that you choose, such as a UUID. A request that is repeated with the same key "
        "within 24 hours returns the existing submission, with the header `Idempotent-Replayed: true`, and uses no "
        "quota. The last 100 keys of accepted submissions are kept.",
    ),
]

UPLOAD_FORM = upload_form(
    {
        "archive": {
            "type": "string",
            "format": "binary",
            "description": "Result files of one or more competitions: .tar, .tar.gz, .tgz, .tar.xz, "
            ".tar.bz2 or .zip. Omit it if `upload` is given.",
        },
        "archive_sha256": {
            "type": "string",
            "description": "SHA-256 of the archive, in hexadecimal. If the archive that arrives does "
            "not match it, the upload is refused with 409 and the code `wrong_digest`.",
        },
        "method_name": {"type": "string", "minLength": 1, "maxLength": forms.MAX_METHOD_NAME_LENGTH},
        "method_description": {"type": "string", "maxLength": forms.MAX_DESCRIPTION_LENGTH},
        "contributors": {
            "type": "string",
            "maxLength": forms.MAX_CONTRIBUTORS_LENGTH,
            "description": "Default: as in your last submission, or the name of your account.",
        },
        "affiliation": {
            "type": "string",
            "maxLength": forms.MAX_AFFILIATION_LENGTH,
            "description": "Default: as in your last submission, or as in your account.",
        },
        "training_data": {
            "type": "string",
            "maxLength": forms.MAX_TRAINING_STATEMENT_LENGTH,
            "description": "What the method was trained on, if a competition requires it.",
        },
        "training_annotation": {
            "type": "string",
            "enum": [str(choice) for choice in TrainingAnnotation],
            "description": "Whether only segmentations were used for training, if required.",
        },
        "flickr_images": {
            "type": "string",
            "enum": [str(choice) for choice in FlickrImages],
            "description": "Whether images from flickr were used for training, if required.",
        },
        "flickr_image_hashes": {
            "type": "string",
            "description": "If `flickr_images` is `yes`: the list printed by `vocboard hash-images`, as text or file.",
        },
        "publish": {
            "type": "boolean",
            "description": "Whether to publish the result as soon as it is scored.",
        },
        "accept_warnings": {
            "type": "boolean",
            "description": "Whether to submit although warnings are about more than a quarter of the "
            "results of a competition. Without it, such an upload is refused with 422 and the code "
            "`warnings_not_accepted`, and uses no quota.",
        },
        "segmentation_classes": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Classes entered for segmentation; omit it to enter all classes.",
        },
    },
    required=["method_name"],
    others={"type": "string", "description": "A declaration that the challenge's edition defines, by name."},
)


@router.post(
    "/challenges/{slug}/submissions",
    status_code=201,
    responses=problem_responses(400, 401, 403, 404, 409, 415, 423, 429, 507) | LOCATED,
    openapi_extra=UPLOAD_FORM,
)
async def create_submission(
    request: Request,
    intake: IntakeDep,
    database: DatabaseDep,
    response: Response,
    user: SubmittingUser,
    identity: ApiIdentity,
    slug: str,
    phase: PhaseKey = None,
    rehearsal: Rehearsal = False,
    upload: UploadId = None,
    idempotency_key: IdempotencyKey = None,
    require_all_classes: RequireAllClasses = False,
) -> schemas.SubmissionDetails:
    """Upload results. They are checked immediately. A valid upload is queued; `Location` is the URL of the submission.

    An upload that begins before the deadline counts if it is submitted at most an hour after it.
    """
    sent = SubmissionRequest(
        request,
        Destination(slug, phase, rehearsal),
        user,
        idempotency_key,
        refuses_incomplete=require_all_classes,
    )
    outcome = await intake.submit(sent, upload_id=upload)
    submission_id = outcome.submission_id
    if outcome.is_repeated:
        response.headers["Idempotent-Replayed"] = "true"
    response.headers["Location"] = request.app.url_path_for("get_submission", submission_id=str(submission_id))

    def described() -> schemas.SubmissionDetails:
        with database.reading() as session:
            try:
                submission = queries.get_for(session, submission_id, user)
            except NotFoundError:
                raise ConflictError(
                    f"This upload was accepted, as submission {submission_id}. It belongs to a team that you are no "
                    "longer in."
                ) from None
            return accepted(session, submission, identity)

    return await to_thread.run_sync(described)


@router.get("/submissions", responses=problem_responses(401, 403))
def list_submissions(
    database: DatabaseDep,
    user: ReadingUser,
    paging: PagingByTime,
    challenge: Annotated[
        str | None, Query(description="Short name of a challenge: list only submissions to it.")
    ] = None,
    archive_sha256: Annotated[
        str | None, Query(pattern="^[0-9a-f]{64}$", description="SHA-256 of an archive: list only submissions of it.")
    ] = None,
    q: Annotated[str, Query(max_length=200, description="Part of the name of a method.")] = "",
    state: SubmissionKind | None = None,
    competition: str = "",
    phase: Annotated[str, Query(description="Key of a phase.")] = "",
    since: FilterInstant | None = None,
    until: FilterInstant | None = None,
) -> ItemPage[schemas.SubmissionSummary]:
    """List your own submissions, newest first; with `since` and `until`, those that were uploaded then."""
    filters = OwnFilters(challenge, archive_sha256, q, state, competition, phase, since, until)
    with database.reading() as session:
        found = queries.mine(session, user=user, filters=filters, **paging.chosen)
        return paging.page_of(found, summary)


@router.get("/submissions/{submission_id}", responses=problem_responses(401, 403, 404))
def get_submission(database: DatabaseDep, viewer: Viewer, submission_id: uuid.UUID) -> schemas.SubmissionDetails:
    """Return a submission with its state, queue position and scores. Published submissions are visible to everyone."""
    with database.reading() as session:
        return details(session, queries.get_for(session, submission_id, viewer), viewer)


@router.patch("/submissions/{submission_id}", responses=problem_responses(400, 401, 403, 404, 409, 422))
def change_submission(submission: OwnSubmission, given: schemas.Changes) -> schemas.SubmissionDetails:
    """Change the declarations, description, contributors and links of your submission, or your private note.

    The audit log keeps previous values, except of the note. Frozen leaderboards do not change.
    """
    sent = given.model_dump(exclude_unset=True)
    changes: dict[str, Any] = {name: "" if value is None else value for name, value in sent.items()}
    if "flickr_image_hashes" in changes:
        changes["flickr_image_hashes"] = forms.read_listed_images(changes["flickr_image_hashes"])
    described = {name: changes.pop(name) for name in describing.FIELDS if name in changes}
    found = [partial(describing.describe, changes=described)] if described else []
    if changes or not described:
        found.append(partial(describing.declare, changes=changes))
    return submission.change(*found)


@router.get(
    "/submissions/{submission_id}/flickr-images",
    response_class=Response,
    responses=problem_responses(401, 403, 404)
    | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "One image per line."}},
)
def get_flickr_images(database: DatabaseDep, user: ReadingUser, submission_id: uuid.UUID) -> Response:
    """Return the declared hashes of flickr images. For the owner of the submission and the organisers."""
    with database.reading() as session:
        listed = describing.listed_images(session, submission_id=submission_id, user=user)
    return Response(listed, media_type="text/plain")


@router.get("/submissions/{submission_id}/showcase", responses=problem_responses(401, 403, 404))
def get_showcase(database: DatabaseDep, viewer: Viewer, submission_id: uuid.UUID) -> schemas.Showcase:
    """Return what a submission found on the images of its challenge's showcase. It reveals no ground truth.

    Results that you may not see are left out; so are those that are not drawn yet, some seconds after the scoring.
    """
    with database.reading() as session:
        submission = queries.get_for(session, submission_id, viewer)
        images = files.showcase_of(session, submission.challenge_id)
        drawings = showcase.visible_drawings(session, [submission_id], viewer).get(submission_id, {})
    return schemas.Showcase.of_drawings(submission.challenge.slug, images, drawings)


@router.get(
    "/submissions/{submission_id}/archive",
    response_class=Response,
    responses=problem_responses(401, 403, 404, 410)
    | file_responses("application/octet-stream", format="binary")
    | ELSEWHERE,
)
def get_archive(
    database: DatabaseDep, store: StoreDep, settings: SettingsDep, user: ReadingUser, submission_id: uuid.UUID
) -> Response:
    """Return the uploaded archive, with its SHA-256 in `Repr-Digest`. For the owner and the organisers."""
    kept_for = settings.withdrawn_archives_kept_for
    found = download(database, store, submission_id=submission_id, user=user, withdrawn_kept_for=kept_for)
    return attachment(found)


@router.post("/submissions/{submission_id}/publish", responses=problem_responses(400, 401, 403, 404, 409, 422))
def publish(submission: OwnSubmission, given: schemas.Publishing | None = None) -> schemas.SubmissionDetails:
    """Publish your own scored submission on the leaderboards of its competitions, or of some of them.

    With `replace`, it replaces the published results of the same method there, in one transaction.
    """
    return submission.change(publishing.publish, **(given.model_dump() if given else {}))


@router.post("/submissions/{submission_id}/unpublish", responses=problem_responses(400, 401, 403, 404, 409, 422))
def unpublish(submission: OwnSubmission, given: schemas.Unpublishing | None = None) -> schemas.SubmissionDetails:
    """Remove a submission from the leaderboards.

    If an organiser does this, it cannot be published again until an organiser calls `allow-publishing`.
    """
    return submission.change(moderation.unpublish, **(given.model_dump() if given else {}))


@router.post("/submissions/{submission_id}/withdraw", responses=problem_responses(401, 403, 404, 409))
def withdraw(submission: OwnSubmission) -> schemas.SubmissionDetails:
    """Withdraw a submission permanently. If it is still queued, it no longer counts against the quota."""
    return submission.change(service.withdraw)


@router.post(
    "/submissions/{submission_id}/anonymous-link", status_code=201, responses=problem_responses(401, 403, 404, 409)
)
def create_anonymous_link(
    database: DatabaseDep, settings: SettingsDep, user: SubmittingUser, submission_id: uuid.UUID
) -> schemas.AnonymousLink:
    """Create a URL that shows a submission's result without names, for double-blind review."""
    with database.writing() as session:
        token = publishing.create_anonymous_link(session, submission_id=submission_id, user=user)
    return schemas.AnonymousLink(url=publishing.anonymous_address(settings.public_url, token))


@router.delete(
    "/submissions/{submission_id}/anonymous-link", status_code=204, responses=problem_responses(401, 403, 404)
)
def revoke_anonymous_link(database: DatabaseDep, user: SubmittingUser, submission_id: uuid.UUID) -> None:
    """Revoke the anonymous link of a submission. It no longer works."""
    with database.writing() as session:
        publishing.revoke_anonymous_link(session, submission_id=submission_id, user=user)
