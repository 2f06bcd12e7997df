"""The page of one challenge, and what other pages show of challenges."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.service import Phase, PhaseState
from vocboard.app.database import Database, now
from vocboard.app.evaluations.origin import ImportedScores
from vocboard.app.leaderboards import queries
from vocboard.app.leaderboards.board import BoardRow
from vocboard.app.leaderboards.current import HiddenLeaderboardError
from vocboard.app.leaderboards.service import imported_scores
from vocboard.app.leaderboards.standings import Standings, standings
from vocboard.app.pages import wording
from vocboard.app.pages.rendering import render
from vocboard.app.web.dependencies import BoardsDep, DatabaseDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.evaluator.editions import Competition, Edition, Task, TaskRules, Training
from vocboard.evaluator.tasks.definition import TaskDefinition
from vocboard.evaluator.tasks.registries.definitions import TASKS

router = APIRouter()


@dataclass(frozen=True, slots=True)
class ListedChallenge:
    """A challenge, as shown in lists."""

    challenge: Challenge
    edition: Edition
    phase: Phase
    state: PhaseState

    @property
    def tasks(self) -> list[Task]:
        """The tasks of its competitions, each once."""
        return list(dict.fromkeys(item.task for item in competitions_of(self.challenge, self.phase)))


@dataclass(frozen=True, slots=True)
class TimelinePhase:
    """A phase in the timeline of a challenge."""

    phase: Phase
    state: PhaseState
    is_current: bool


@dataclass(frozen=True, slots=True)
class TaskFormat:
    """The result files of one task."""

    rules: TaskRules
    definition: TaskDefinition
    example: str


@router.get("/challenges/{slug}")
async def challenge_page(
    request: Request, database: DatabaseDep, boards: BoardsDep, identity: CurrentIdentity, slug: str
) -> Response:
    """One challenge, with the leaders of its competitions."""
    challenge, organises, own, imported = await run_in_threadpool(_read, database, slug, identity.user)
    at = now()
    phase = challenges.current_phase(challenge, at)
    default = board_phase = challenges.leaderboard_phase(challenge, at)
    found, visible_from = {}, None
    try:
        board_phase = (await boards.with_results(challenge, identity.user)).phase
        _, shown = await boards.with_entries(slug, identity.user, phase_key=board_phase.key)
        found = {each.board.competition.key: standings(each.board, own) for each in shown}
    except HiddenLeaderboardError as error:
        visible_from = error.visible_from
    competitions = competitions_of(challenge, phase)
    known = {each.key for each in competitions}
    others = [each for each in competitions_of(challenge, board_phase) if each.key in found.keys() - known]
    return await run_in_threadpool(
        render,
        request,
        "challenge.html",
        challenge=challenge,
        edition=challenges.edition_of(challenge),
        edition_argument=edition_argument(challenge),
        matrix=matrix([*competitions, *others], found),
        results=[one for one in found.values() if one.leaders] if challenge.archived_at is not None else [],
        imported=imported,
        visible_from=visible_from,
        tasks=(formats := task_formats(competitions)),
        classes_of_tasks=_classes_of(formats),
        organises=organises,
        ready=phase.scoring_id is not None,
        phase=phase,
        state=phase.state(at),
        timeline=timeline(challenge, at),
        board_phase=board_phase,
        board_query="" if board_phase.key == default.key else f"?phase={board_phase.key}",
        at=at,
    )


def _read(
    database: Database, slug: str, user: User | None
) -> tuple[Challenge, bool, Collection[uuid.UUID], ImportedScores | None]:
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, user)
        own = queries.published_by(session, challenge, user) if user is not None else ()
        return challenge, challenges.is_organiser(session, challenge, user), own, imported_scores(session, challenge)


def listed(found: Sequence[Challenge]) -> list[ListedChallenge]:
    """What a list shows of challenges."""
    at = now()
    current = [(item, challenges.current_phase(item, at)) for item in found]
    return [ListedChallenge(item, challenges.edition_of(item), phase, phase.state(at)) for item, phase in current]


def timeline(challenge: Challenge, at: datetime) -> list[TimelinePhase]:
    """The phases of a challenge as a page shows them."""
    current = challenges.current_phase(challenge, at)
    return [
        TimelinePhase(phase, phase.state(at), is_current=phase == current) for phase in challenges.phases_of(challenge)
    ]


def competitions_of(challenge: Challenge, phase: Phase) -> list[Competition]:
    """The competitions of a phase, with their rules."""
    known = challenges.edition_of_phase(challenge, phase).competitions
    return [known[key] for key in phase.competitions]


def _classes_of(formats: Sequence[TaskFormat]) -> list[tuple[tuple[str, ...], list[str]]]:
    """Return the lists of classes, each once, with the titles of the tasks that have it."""
    found: dict[tuple[str, ...], list[str]] = {}
    for item in formats:
        found.setdefault(tuple(item.rules.classes), []).append(item.definition.title)
    return list(found.items())


def edition_argument(challenge: Challenge) -> str:
    """Return the edition argument of `vocboard validate` for a challenge: its name, or the downloaded file."""
    return challenge.edition if challenge.edition_file is None else f"{challenge.edition}.toml"


def task_formats(competitions: Sequence[Competition]) -> list[TaskFormat]:
    """Return the result files of each task, with the task's first competition as example."""
    formats: dict[str, TaskFormat] = {}
    for item in competitions:
        rules = item.rules
        pattern = {"competition": item.key, "image_set": item.image_set, "image": "<image>", "class": rules.classes[0]}
        formats.setdefault(rules.task, TaskFormat(rules, TASKS[rules.task], rules.file.format(**pattern)))
    return list(formats.values())


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A competition; `standings` is None if no method has entered it, or its leaderboard is not visible."""

    competition: Competition
    standings: Standings | None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A task: its competitions for each column; a custom edition may have none or several for one."""

    first: Competition
    cells: tuple[tuple[MatrixCell, ...], ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """All competitions of a phase."""

    columns: tuple[Training, ...]
    rows: tuple[MatrixRow, ...]

    @property
    def leaders(self) -> list[BoardRow]:
        """The first of each leaderboard that has one."""
        cells = (cell for row in self.rows for column in row.cells for cell in column)
        return [cell.standings.leader for cell in cells if cell.standings is not None and cell.standings.leader]


def matrix(competitions: Sequence[Competition], found: Mapping[str, Standings]) -> Matrix:
    """Arrange competitions by task and by training data, both in the order of the phase.

    Args:
        found: the standings, by competition.
    """
    columns = tuple(dict.fromkeys(each.training for each in competitions))
    by_task: dict[str, list[Competition]] = {}
    for each in competitions:
        by_task.setdefault(wording.task_title(each), []).append(each)
    rows = tuple(
        MatrixRow(
            group[0],
            tuple(
                tuple(MatrixCell(each, found.get(each.key)) for each in group if each.training is column)
                for column in columns
            ),
        )
        for group in by_task.values()
    )
    return Matrix(columns, rows)
