"""Leaderboards as JSON, CSV and LaTeX."""

import uuid
from enum import StrEnum
from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import BaseModel, Field, field_validator

from vocboard.app.api.documentation import UNCHANGED, file_responses
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import (
    ChallengeName,
    CompetitionKey,
    Count,
    Fraction,
    FromObject,
    Imported,
    Instant,
)
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.errors import ServiceError
from vocboard.app.leaderboards import export
from vocboard.app.leaderboards.board import Board, BoardRow, Part
from vocboard.app.leaderboards.corrections import Cause
from vocboard.app.leaderboards.models import ReportedKind
from vocboard.app.leaderboards.statistics import UNKNOWN
from vocboard.app.web.cached_responses import KEPT_BUT_ASKED_FOR, Rendering, answer
from vocboard.app.web.dependencies import BoardsDep
from vocboard.app.web.identity import Viewer
from vocboard.evaluator.editions import Metric, Task

router = ApiRoutes(tags=["leaderboards"])


class Format(StrEnum):
    """Formats of a leaderboard; each is also a file extension."""

    JSON = "json"
    CSV = "csv"
    LATEX = "tex"


MEDIA_TYPES = {Format.JSON: "application/json", Format.CSV: "text/csv", Format.LATEX: "application/x-tex"}
# Media types that clients use for LaTeX; none is registered.
_ACCEPTED = {
    "application/json": Format.JSON,
    "text/csv": Format.CSV,
    "application/x-tex": Format.LATEX,
    "application/x-latex": Format.LATEX,
    "text/x-tex": Format.LATEX,
}
_OTHER_FORMATS = file_responses(MEDIA_TYPES[Format.CSV], MEDIA_TYPES[Format.LATEX])


class ScoreInterval(FromObject):
    """A 95 % bootstrap interval of one score on its own, not corrected for the number of methods."""

    low: float = Field(description="Lower end, a fraction.")
    high: float = Field(description="Upper end, a fraction.")


class RankRange(BaseModel):
    """The best and the worst rank of a method, with 95 % confidence for all methods together."""

    best: Count
    worst: Count


class LeaderboardStatistics(FromObject):
    """How certain the scores of a leaderboard are; see docs/statistics.md."""

    is_current: bool = Field(
        description="Whether the statistics belong to exactly these rows. If not, new ones are being computed, and "
        "rank ranges are null."
    )
    is_unavailable: bool = Field(
        validation_alias="failure",
        description="Whether the statistics of these rows could not be computed. Organisers see why in `GET "
        "/challenges/{slug}/statistics`.",
    )
    decimals: Count = Field(description="Decimal places of intervals.")
    resampled_images: Count = Field(
        validation_alias="images", description="Number of test images that the bootstrap draws from."
    )
    replicates: Count = Field(description="Number of bootstrap replicates.")
    compared: Count = Field(description="Number of methods with a rank range: those that entered every class.")

    @field_validator("is_unavailable", mode="before")
    @classmethod
    def _has_failed(cls, failure: object) -> bool:
        return failure is not None


class LeaderboardRow(FromObject):
    """One published method."""

    rank: Count | None = Field(
        description="Rank by the mean as shown. Methods with the same mean share a rank, if all of them entered every "
        "class, or none did. null if the mean is undefined; such methods come last."
    )
    submission: uuid.UUID | None = Field(description="Id of the submission; null on an anonymous leaderboard.")
    method: str = Field(description="Name of the method; on an anonymous leaderboard, a constant label in its place.")
    method_id: uuid.UUID | None = Field(
        description="Id of the method, of the page `/methods/{id}`; null if the page is not public."
    )
    paper_url: str = Field(description="Link to the paper, or empty.")
    code_url: str = Field(description="Link to the code, or empty.")
    team: str = Field(description="Name of the team; empty for a person alone, and on an anonymous leaderboard.")
    contributors: str
    affiliation: str
    declared: dict[str, str | float | None] = Field(
        description="Values of the declarations that the competition asks for, in words or as numbers; null for those "
        "that are missing."
    )
    submitted_at: Instant
    mean: Fraction
    interval: ScoreInterval | None = Field(description="Interval of the mean; null if it is unknown or not shown.")
    ranks: RankRange | None = Field(description="Rank range; null if it is unknown or not shown.")
    in_first_group: bool | None = Field(
        description="Whether the method is first, or cannot be distinguished from the first (two-sided, 5 %, corrected "
        "for all pairs of compared methods; a difference that depends on fewer than ten images does not count). null "
        "if `ranks` is null."
    )
    mean_over: Count = Field(description="Number of classes in the mean.")
    other_means: dict[Metric, Fraction] = Field(description="Means of the leaderboard's secondary metrics.")
    is_complete: bool = Field(description="Whether every class was entered. Such methods rank before all others.")
    per_class: dict[str, Fraction] = Field(description="Scores by class, without the classes that were not entered.")
    interval_per_class: dict[str, ScoreInterval] = Field(description="Intervals of the scores by class that have one.")
    other_per_class: dict[Metric, dict[str, Fraction]] = Field(
        description="Scores by class of the leaderboard's secondary metrics, for those that have any."
    )
    best: list[str] = Field(
        description="Classes in which no method has a better score, as shown; contains `mean` if this holds for the "
        "mean. The mean of a method that did not enter every class is never the best."
    )


class Correction(FromObject):
    """A re-score that has been applied."""

    applied_at: Instant
    reason: str
    ground_truth_version: Count
    evaluator_version: str
    edition_version: Count
    changes_edition: bool = Field(description="Whether this changed the rules to those of `edition_version`.")
    method: str | None = Field(
        description="Name of the method, if only one submission was evaluated again; otherwise null."
    )


class Removal(FromObject):
    """A result that organisers removed from a frozen leaderboard. The ranks below it have moved up."""

    removed_at: Instant
    cause: Cause


class ReportedResult(FromObject):
    """A baseline, or a result from elsewhere, as it was reported. It was not scored on this server."""

    id: uuid.UUID
    kind: ReportedKind = Field(
        description="`baseline`: of the organisers. `paper`: as a paper reports it. `imported`: from another "
        "evaluation."
    )
    method: str
    reference: str = Field(description="Address of the source, or empty. A DOI becomes its address.")
    note: str = Field(description="Where in the source, such as “Table 2”, or empty.")
    mean: float | None = Field(description="The mean as reported, a fraction; null if it was not reported.")
    per_class: dict[str, float] = Field(description="Scores by class as reported: fractions.")


class Leaderboard(FromObject):
    """The leaderboard of one competition, ranked by means as shown."""

    challenge: ChallengeName
    phase: str = Field(description="Key of the phase.")
    frozen_at: Instant | None = Field(description="When the leaderboard was frozen; null if it may still change.")
    is_anonymous: bool = Field(description="Whether names, affiliations, statements and links are hidden.")
    competition: CompetitionKey
    task: Task
    metric: Metric
    classes: list[str]
    decimals: Count
    ladder_step: float | None = Field(
        description="Step of the Ladder mechanism while it hides scores: `mean` is then rounded to this step, and null "
        "for methods that were not a new best of their owner. null if all scores are shown."
    )
    imported: Imported
    corrections: list[Correction] = Field(description="Re-scores that have been applied, newest first.")
    removals: list[Removal] = Field(
        description="Results that organisers disqualified, unpublished or marked as failed after the leaderboard was "
        "frozen, latest first. The list does not tell whose they were. Empty for leaderboards that are not frozen."
    )
    statistics: LeaderboardStatistics | None = Field(
        description="How certain the scores are; null if the leaderboard shows no statistics."
    )
    rows: list[LeaderboardRow]
    reported: list[ReportedResult] = Field(
        description="Baselines and results from papers, which organisers added. They have no rank, "
        "and nothing else of the leaderboard depends on them."
    )


class NotAcceptableError(ServiceError):
    """None of the formats that the client accepts is available."""

    status, code, title = 406, "not_acceptable", "Format not available"


@router.get(
    "/challenges/{slug}/leaderboards/{competition}",
    response_model=Leaderboard,
    responses=problem_responses(401, 403, 404, 406) | UNCHANGED | _OTHER_FORMATS,
)
async def leaderboard(
    request: Request,
    boards: BoardsDep,
    viewer: Viewer,
    slug: str,
    competition: str,
    wanted: Annotated[
        Format | None, Query(alias="format", description="Format of the response; overrides the `Accept` header.")
    ] = None,
    phase: Annotated[
        str | None, Query(description="Key of a phase; by default, the one whose leaderboards are shown first.")
    ] = None,
    results: Annotated[
        Part, Query(description="`later` returns the results that were published after the leaderboard was frozen.")
    ] = Part.COUNTING,
) -> Response:
    """Return the leaderboard of one competition as JSON, CSV or LaTeX.

    Choose the format with `?format=`, the `Accept` header or the file extension. One row per published method, ranked
    by the mean as shown; equal means share a rank, and the earlier submission is listed first.
    """
    name, dot, ending = competition.rpartition(".")
    if dot and ending in set(Format):
        competition, wanted = name, Format(ending)
    wanted = wanted or _accepted(request.headers.get("accept") or "*/*")
    current = await boards.get(slug, competition, viewer, phase_key=phase, part=results)
    rendering = await boards.rendered(current, wanted, lambda: _written(current.board, wanted))
    headers = {"Vary": "Accept"}
    if viewer is None:
        headers["Cache-Control"] = KEPT_BUT_ASKED_FOR
    if wanted is not Format.JSON:
        file_name = f"{_file_name(current.board)}.{wanted}"
        headers["Content-Disposition"] = f'attachment; filename="{file_name}"'
    return answer(request, rendering, headers)


def _file_name(board: Board) -> str:
    parts = [board.challenge, board.competition.key]
    if board.phase != MAIN_PHASE:
        parts.insert(1, board.phase)
    if board.part is Part.LATER:
        parts.append("later")
    return "-".join(parts)


def _written(board: Board, wanted: Format) -> Rendering:
    match wanted:
        case Format.JSON:
            body = _leaderboard(board).model_dump_json()
        case Format.CSV:
            body = export.as_csv(board)
        case Format.LATEX:
            body = export.as_latex(board)
    return Rendering.of(body.encode(), MEDIA_TYPES[wanted])


def _accepted(accept: str) -> Format:
    """Return the available format that the client prefers; JSON if it accepts anything.

    Source: RFC 9110, section 12.5.1.
    """
    preferences: list[tuple[float, str]] = []
    for part in accept.split(","):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((piece[2:] for piece in parameters if piece.startswith("q=")), "1")
        try:
            preferences.append((float(quality), media_type.lower()))
        except ValueError:
            continue
    wanted = [media_type for weight, media_type in sorted(preferences, key=lambda item: -item[0]) if weight > 0]
    for media_type in wanted:
        if media_type in _ACCEPTED:
            return _ACCEPTED[media_type]
        if media_type in {"*/*", "application/*"}:
            return Format.JSON
        if media_type == "text/*":
            return Format.CSV
    raise NotAcceptableError(f"Available formats: {', '.join(MEDIA_TYPES.values())}.")


def _leaderboard(board: Board) -> Leaderboard:
    return Leaderboard.of(
        board,
        competition=board.competition.key,
        task=board.competition.task,
        rows=[_row(row, board) for row in board.rows],
        reported=[ReportedResult.model_validate(one) for one in board.reported],
    )


def _row(row: BoardRow, board: Board) -> LeaderboardRow:
    cells = dict(zip(board.classes, row.cells, strict=True))
    known = row.statistics or UNKNOWN
    return LeaderboardRow.of(
        row,
        submission=row.submission_id,
        method_id=row.links.method_id,
        paper_url=row.links.paper_url,
        code_url=row.links.code_url,
        declared={one.declaration.name: one.text if isinstance(one.value, str) else one.value for one in row.declared},
        mean=row.mean.value,
        interval=known.mean,
        ranks=None if known.ranks is None else RankRange(best=known.ranks[0], worst=known.ranks[1]),
        in_first_group=None if known.ranks is None else known.is_in_first_group,
        other_means={metric: cell.value for metric, cell in zip(board.others, row.others, strict=True)},
        per_class={name: cell.value for name, cell in cells.items() if cell.is_entered},
        interval_per_class=known.classes,
        other_per_class={
            metric: {name: cell.value for name, cell in zip(board.classes, scores, strict=True) if cell.is_entered}
            for metric, scores in zip(board.others, row.other_cells, strict=True)
            if metric in board.class_metrics
        },
        best=[name for name, cell in (("mean", row.mean), *cells.items()) if cell.is_best],
    )
