"""Archiving, deleting, exporting and importing challenges."""

from anyio import to_thread
from fastapi import Request, Response
from pydantic import Field
from starlette.responses import StreamingResponse

from vocboard.app.api.challenges import challenge_details
from vocboard.app.api.documentation import LOCATED, file_responses, upload_form
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.challenges import ChallengeDetails
from vocboard.app.api.schemas.values import Count, FromObject
from vocboard.app.challenges import service as challenges
from vocboard.app.intake.organisers import take_challenge
from vocboard.app.organising import archiving
from vocboard.app.transfer.exporting import begin_export
from vocboard.app.transfer.importing_people import report_of
from vocboard.app.web.attachments import exported_challenge
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep, StoreDep
from vocboard.app.web.identity import ApiIdentity, ApiOrganiser, OrganisingUser
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes(tags=["transfer"])
CHANGING = problem_responses(401, 403, 404, 409)
IMPORTING = problem_responses(400, 401, 403, 408, 409, 413, 415, 422, 429)
UPLOAD_FORM = upload_form(
    {
        "slug": {
            "type": "string",
            "description": "Short name of the challenge in URLs. Default: the one in the archive.",
        },
        "organisers": {
            "type": "string",
            "description": "Email addresses of organisers to invite, separated by commas. The archive must name them "
            "as organisers. Nobody else gets any rights.",
        },
        "archive": {"type": "string", "format": "binary", "description": "An exported challenge."},
    },
    required=["archive"],
)


class OrganiserElsewhere(FromObject):
    """A person whom the archive names as an organiser, and who does not organise the challenge on this server."""

    name: str
    email: str
    invited: bool = Field(
        validation_alias="is_invited", description="Whether the person is invited to organise it here."
    )


class ImportedChallenge(ChallengeDetails):
    """A challenge that was imported, with the organisers and bans in its archive."""

    organisers_elsewhere: list[OrganiserElsewhere] = Field(
        description="Organisers whom the archive names. They have no rights on this server until they accept an "
        "invitation."
    )
    bans: Count = Field(description="Number of imported bans. Each holds for an email address.")


@router.post("/challenges/{slug}/archive", responses=CHANGING)
def archive_challenge(organised: OrganisedByToken, identity: ApiIdentity) -> ChallengeDetails:
    """Archive a challenge: make it read-only. Its pages and leaderboards remain."""
    with organised.writing() as (session, challenge):
        archiving.archive(session, challenge=challenge, user=organised.user)
        return challenge_details(session, challenge, identity.reader)


@router.post("/challenges/{slug}/reopen", responses=CHANGING)
def reopen_challenge(organised: OrganisedByToken, identity: ApiIdentity) -> ChallengeDetails:
    """Reopen an archived challenge, so that it can be changed again."""
    with organised.writing() as (session, challenge):
        archiving.reopen(session, challenge=challenge, user=organised.user)
        return challenge_details(session, challenge, identity.reader)


@router.delete("/challenges/{slug}", status_code=204, responses=CHANGING)
def delete_challenge(organised: OrganisedByToken) -> None:
    """Delete a draft that has no submissions except rehearsals. For its owner."""
    organised.change(archiving.delete_draft)


@router.post(
    "/challenges/{slug}/export",
    response_class=StreamingResponse,
    responses=problem_responses(401, 403, 404) | file_responses("application/x-tar", format="binary"),
)
def export_challenge(database: DatabaseDep, store: StoreDep, user: OrganisingUser, slug: str) -> StreamingResponse:
    """Export the whole challenge, without its ground truth, as one archive that another server can import."""
    return exported_challenge(begin_export(database, store, slug=slug, user=user), slug)


@router.post("/challenges/imports", status_code=201, responses=IMPORTING | LOCATED, openapi_extra=UPLOAD_FORM)
async def import_challenge(
    request: Request,
    response: Response,
    database: DatabaseDep,
    intake: IntakeDep,
    user: ApiOrganiser,
    identity: ApiIdentity,
) -> ImportedChallenge:
    """Import an exported challenge, with its bans, as an archived draft."""
    slug = await take_challenge(intake, request, user=user)
    response.headers["Location"] = request.app.url_path_for("get_challenge", slug=slug)

    def described() -> ImportedChallenge:
        with database.reading() as session:
            challenge = challenges.get_organised(session, slug, user)
            details = challenge_details(session, challenge, identity.reader)
            report = report_of(session, challenge)
        found = report.organisers if report else ()
        people = [OrganiserElsewhere.model_validate(one) for one in found]
        return ImportedChallenge(**details.model_dump(), organisers_elsewhere=people, bans=report.bans if report else 0)

    return await to_thread.run_sync(described)
