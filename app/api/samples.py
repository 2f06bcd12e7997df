"""The samples of a custom edition."""

from typing import Any

from fastapi import APIRouter, Response

from vocboard.app.api.problems import problem_responses
from vocboard.app.challenges import samples
from vocboard.app.challenges import service as challenges
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import OrganisingUser

router = APIRouter(tags=["challenges"])
ZIP: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get(
    "/challenges/{slug}/samples",
    response_class=Response,
    responses=problem_responses(401, 403, 404, 409, 503) | ZIP,
)
def get_samples(database: DatabaseDep, user: OrganisingUser, slug: str) -> Response:
    """Return a sample tree and sample results for a custom edition, for rehearsals. For organisers.

    The zip file has `edition.toml`, `ground-truth.tar.gz` and `results.tar.gz`, the same as `vocboard new-edition
    --edition-file` writes.
    """
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
    return Response(samples.samples_of(challenge), media_type="application/zip")
