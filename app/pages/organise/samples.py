"""The samples of a custom edition, for organisers who want to rehearse."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from vocboard.app.challenges import samples
from vocboard.app.challenges import service as challenges
from vocboard.app.errors import BusyError, ConflictError
from vocboard.app.pages.organise.challenges import challenge_page
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import Organiser

router = APIRouter(prefix="/organise/{slug}")


@router.get("/samples")
def download_samples(
    request: Request, database: DatabaseDep, settings: SettingsDep, user: Organiser, slug: str
) -> Response:
    """A sample tree and sample results for the challenge's edition."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
    try:
        content = samples.samples_of(challenge)
    except (BusyError, ConflictError) as error:
        return challenge_page(request, database, settings, user, slug, refusal=error)
    headers = {"Content-Disposition": f'attachment; filename="{slug}-samples.zip"'}
    return Response(content, media_type="application/zip", headers=headers)
