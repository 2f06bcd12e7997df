"""Baselines and results from papers on a leaderboard: list, add, change, remove."""

import uuid
from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import Field

from vocboard.app.api.documentation import LOCATED
from vocboard.app.api.leaderboards import ReportedResult
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import Given
from vocboard.app.challenges.phases import leaderboard_phase, phase_named
from vocboard.app.database import now
from vocboard.app.leaderboards import reported
from vocboard.app.leaderboards.models import ReportedKind
from vocboard.app.leaderboards.service import rules_of
from vocboard.app.web.dependencies import BoardsDep
from vocboard.app.web.identity import Viewer
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes("/challenges/{slug}/leaderboards/{competition}/reported", tags=["leaderboards"])
PhaseKey = Annotated[
    str | None, Query(description="Key of a phase; by default, the one whose leaderboards are shown first.")
]


class Report(Given):
    """What is said of a result that was not scored here."""

    kind: ReportedKind
    method: str = Field(max_length=1000)
    reference: str = Field(
        "", max_length=1000, description="DOI or http(s) address of the source; required for results from papers."
    )
    note: str = Field("", max_length=1000, description="Where in the source, such as “Table 2”.")
    mean: float | None = Field(
        None, description="Fraction, by the metric that the leaderboard ranks by; null if it was not reported."
    )
    per_class: dict[str, float] = Field(
        default_factory=dict, max_length=10_000, description="Fractions by class, for those that were reported."
    )

    @property
    def given(self) -> reported.Report:
        """The same for the service."""
        return reported.Report(**dict(self))


@router.get("", responses=problem_responses(401, 403, 404))
async def list_reported_results(
    boards: BoardsDep, viewer: Viewer, slug: str, competition: str, phase: PhaseKey = None
) -> list[ReportedResult]:
    """List the baselines and results from papers of a leaderboard, at most 50, in the order of their addition."""
    current = await boards.get(slug, competition, viewer, phase_key=phase)
    return [ReportedResult.model_validate(one) for one in current.board.reported]


@router.post("", status_code=201, responses=problem_responses(401, 403, 404, 409) | LOCATED)
def add_reported_result(
    request: Request,
    response: Response,
    organised: OrganisedByToken,
    competition: str,
    report: Report,
    phase: PhaseKey = None,
) -> ReportedResult:
    """Add a baseline, or a result from elsewhere, to a leaderboard, frozen or not. It gets no rank. For organisers."""
    with organised.writing() as (session, challenge):
        of = leaderboard_phase(challenge, now()) if phase is None else phase_named(challenge, phase)
        rules = rules_of(challenge, of, competition)
        [row] = reported.add(
            session, challenge=challenge, user=organised.user, phase=of, competition=rules, reports=[report.given]
        )
        added = ReportedResult.model_validate(row)
    response.headers["Location"] = request.app.url_path_for(
        "list_reported_results", slug=organised.slug, competition=competition
    )
    return added


@router.put("/{reported_id}", responses=problem_responses(400, 401, 403, 404, 409, 422))
def change_reported_result(
    organised: OrganisedByToken, competition: str, reported_id: uuid.UUID, report: Report
) -> ReportedResult:
    """Replace what is said of a baseline or a result from elsewhere. For organisers."""
    with organised.writing() as (session, challenge):
        row = reported.change(
            session,
            challenge=challenge,
            user=organised.user,
            competition=competition,
            reported_id=reported_id,
            report=report.given,
        )
        return ReportedResult.model_validate(row)


@router.delete("/{reported_id}", status_code=204, responses=problem_responses(401, 403, 404, 409))
def remove_reported_result(organised: OrganisedByToken, competition: str, reported_id: uuid.UUID) -> None:
    """Remove a baseline or a result from elsewhere. For organisers."""
    organised.change(reported.remove, competition=competition, reported_id=reported_id)
