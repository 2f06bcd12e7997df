"""How methods are ranked over all leaderboards of a phase."""

import uuid
from typing import Annotated, Literal

from fastapi import Query, Request, Response
from pydantic import BaseModel, Field

from vocboard.app.api.documentation import UNCHANGED
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import ChallengeName, Count
from vocboard.app.challenges.models import OverallRank
from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.participation import Overall, Participant, overall, participants
from vocboard.app.web.cached_responses import KEPT_BUT_ASKED_FOR, Rendering, answer
from vocboard.app.web.dependencies import BoardsDep
from vocboard.app.web.identity import Viewer
from vocboard.evaluator.rules import Training

router = ApiRoutes(tags=["leaderboards"])


class OverallLimits(BaseModel):
    """The least and the greatest mean rank that the rank ranges of the leaderboards allow."""

    low: float
    high: float


class OverallRow(BaseModel):
    """A method that has a rank on each of the leaderboards."""

    rank: Count = Field(description="Rank of the value as shown; equals share the best.")
    method: str
    contributors: str
    affiliation: str
    value: float = Field(
        description="Mean of the ranks; or mean of the scores, each divided by the best of its leaderboard."
    )
    limits: OverallLimits | None = Field(
        description="null for means of scores, and where a leaderboard has no rank range of the method."
    )
    submissions: dict[str, uuid.UUID | None] = Field(
        description="Id of the submission by competition; null on an anonymous leaderboard."
    )


class OverallGroup(BaseModel):
    """The leaderboards that allow the same training data, if these are several."""

    training: Training
    competitions: list[str] = Field(description="Keys; of all phases, `PHASE/COMPETITION`.")
    rows: list[OverallRow] = Field(description="By rank.")


class OverallRanks(BaseModel):
    """Ranks over the leaderboards of one phase or all, computed from what they show."""

    challenge: ChallengeName
    phase: str | None = Field(description="Key of the phase; null for all phases.")
    by: OverallRank = Field(description="`none`: the organisers have not chosen to rank over all leaderboards.")
    groups: list[OverallGroup]


@router.get(
    "/challenges/{slug}/overall",
    response_model=OverallRanks,
    responses=problem_responses(401, 403, 404) | UNCHANGED,
)
async def overall_ranks(
    request: Request,
    boards: BoardsDep,
    viewer: Viewer,
    slug: str,
    phase: Annotated[
        str | None, Query(description="Key of a phase; by default, the one whose leaderboards are shown first.")
    ] = None,
    phases: Annotated[Literal["", "all"], Query(description="`all`: over the leaderboards of all phases.")] = "",
) -> Response:
    """Return how methods are ranked over all leaderboards of a phase, or of all phases."""
    if phases:
        first, shown = await boards.of_all_phases(slug, viewer)
    else:
        first, shown = await boards.with_entries(slug, viewer, phase_key=phase)
    found, by = [current.board for current in shown], first.challenge.overall_rank

    def written() -> Rendering:
        of = None if phases else first.phase.key
        ranks = OverallRanks(challenge=slug, phase=of, by=by, groups=_groups(found, by, has_all=bool(phases)))
        return Rendering.of(ranks.model_dump_json().encode(), "application/json")

    rendering = await boards.rendered(
        first, ("overall", phase, tuple(one.identity for one in shown) if phases else None), written
    )
    return answer(request, rendering, {} if viewer is not None else {"Cache-Control": KEPT_BUT_ASKED_FOR})


def _groups(boards: list[Board], by: OverallRank, *, has_all: bool) -> list[OverallGroup]:
    keys = {board.key: "/".join(board.key) if has_all else board.competition.key for board in boards}
    methods = participants(boards)
    groups = []
    for training, ranked in overall(boards, methods, by).items():
        of_group = {keys[board.key]: board for board in boards if board.competition.training is training}
        rows = [_row(of_group, methods[place], one) for place, one in ranked.items()]
        rows.sort(key=lambda row: row.rank)
        groups.append(OverallGroup(training=training, competitions=list(of_group), rows=rows))
    return groups


def _row(boards: dict[str, Board], method: Participant, one: Overall) -> OverallRow:
    return OverallRow(
        rank=one.rank,
        method=method.method,
        contributors=method.contributors,
        affiliation=method.affiliation,
        value=one.value,
        limits=None if one.limits is None else OverallLimits(low=one.limits[0], high=one.limits[1]),
        submissions={
            key: row.submission_id for key, board in boards.items() if (row := method.row_on(board)) is not None
        },
    )
