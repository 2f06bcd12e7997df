"""The pages of one challenge, and what other pages show of challenges."""

import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.announcements.models import Announcement
from vocboard.app.announcements.queries import latest_announcements
from vocboard.app.challenges import files as challenge_files
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges import terms
from vocboard.app.challenges.admission_requests import own_requests
from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.models import Admission, Audience, Challenge, ChallengeFile, FileKind, RequestState
from vocboard.app.challenges.phase_people import is_admitted as is_listed
from vocboard.app.challenges.phases import (
    Phase,
    PhaseState,
    current_phase,
    edition_of_phase,
    leaderboard_phase,
    phases_of,
)
from vocboard.app.database import Database, now
from vocboard.app.evaluations.origin import ImportedScores
from vocboard.app.intake.challenge_files import is_admitted
from vocboard.app.leaderboards import queries
from vocboard.app.leaderboards.board import BoardRow
from vocboard.app.leaderboards.current import HiddenLeaderboardError
from vocboard.app.leaderboards.service import imported_scores
from vocboard.app.leaderboards.standings import Standings, standings
from vocboard.app.pages import wording
from vocboard.app.pages.machine_readable import metadata
from vocboard.app.pages.rendering import render
from vocboard.app.web.dependencies import BoardsDep, DatabaseDep, SettingsDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.app.web.routes import Routes
from vocboard.evaluator.editions import Competition, Edition, Task, TaskRules, Training
from vocboard.evaluator.tasks.definition import TaskDefinition
from vocboard.evaluator.tasks.definitions import TASKS

router = Routes()
ON_OVERVIEW = 3  # announcements


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
class ChallengeDate:
    """What happens at one time of a challenge; `at` is None for what has no date."""

    title: str
    at: datetime | None
    is_past: bool = False
    is_today: bool = False


@dataclass(frozen=True, slots=True)
class TaskFormat:
    """The result files of one task.

    Attributes:
        example: name of one.
        line: with real numbers; empty if its content is not a line.
    """

    rules: TaskRules
    definition: TaskDefinition
    example: str
    line: str


@dataclass(frozen=True, slots=True)
class ShownFiles:
    """The files of a challenge.

    Attributes:
        data: to download.
        may_download: whether the viewer may download what is for admitted people.
    """

    cover: ChallengeFile | None
    logos: Sequence[ChallengeFile]
    data: Sequence[ChallengeFile]
    may_download: bool


class ReadChallenge(NamedTuple):
    """What the pages of a challenge show.

    Attributes:
        organises: whether the viewer organises it.
        own: what the viewer has submitted.
        imported: where its scores came from.
        steps: what the viewer still has to do to take part.
    """

    challenge: Challenge
    organises: bool
    own: Collection[uuid.UUID]
    imported: ImportedScores | None
    files: ShownFiles
    steps: Sequence[str]


@router.get("/challenges/{slug}")
async def challenge_page(
    request: Request,
    database: DatabaseDep,
    boards: BoardsDep,
    settings: SettingsDep,
    identity: CurrentIdentity,
    slug: str,
    viewed_as: Annotated[str, Query(alias="as")] = "",
) -> Response:
    """What one challenge is about, with the leaders of its competitions; for organisers also as participants see it."""
    read, announcements = await run_in_threadpool(_read_overview, database, slug, identity.user)
    challenge, own = read.challenge, read.own
    at = now()
    phase = current_phase(challenge, at)
    default = board_phase = leaderboard_phase(challenge, at)
    found, visible_from = {}, None
    try:
        board_phase = (await boards.with_results(challenge, identity.user)).phase
        _, shown = await boards.with_entries(slug, identity.user, phase_key=board_phase.key)
        found = {each.board.competition.key: standings(each.board, own) for each in shown}
    except HiddenLeaderboardError as error:
        visible_from = error.visible_from
    is_preview = read.organises and viewed_as == "participant"
    if is_preview and not board_phase.is_leaderboard_visible(at):
        found, visible_from = {}, board_phase.rules.leaderboard_from
    competitions = competitions_of(challenge, phase)
    known = {each.key for each in competitions}
    others = [each for each in competitions_of(challenge, board_phase) if each.key in found.keys() - known]
    return await run_in_threadpool(
        render,
        request,
        "challenge.html",
        **shown_on_all_tabs(read, at, is_preview=is_preview),
        announcements=announcements,
        metadata=metadata(challenge, read.files.cover, read.files.data, settings.public_url),
        site=settings.public_url,
        matrix=matrix([*competitions, *others], found),
        results=[one for one in found.values() if one.leaders] if challenge.archived_at is not None else [],
        visible_from=visible_from,
        board_phase=board_phase,
        board_query="" if board_phase.key == default.key else f"?phase={board_phase.key}",
    )


@router.get("/challenges/{slug}/data")
def data_page(request: Request, database: DatabaseDep, identity: CurrentIdentity, slug: str) -> Response:
    """Where the data of a challenge are, and what result files look like."""
    read = read_challenge(database, slug, identity.user)
    challenge, shown = read.challenge, shown_on_all_tabs(read, now())
    phases = [shown["phase"], *(each for each in phases_of(challenge) if each.state(shown["at"]) is PhaseState.OPEN)]
    formats = task_formats([item for each in phases for item in competitions_of(challenge, each)])
    by_truth: dict[uuid.UUID, Phase] = {}
    for each in phases:
        if each.scoring_id is not None:
            by_truth.setdefault(each.truth_phase_id, each)
    return render(
        request,
        "challenge_data.html",
        **shown,
        edition_argument=edition_argument(challenge),
        tasks=formats,
        classes_of_tasks=_classes_of(formats),
        test_sets=list(by_truth.values()),
    )


@router.get("/challenges/{slug}/rules")
def rules_page(request: Request, database: DatabaseDep, identity: CurrentIdentity, slug: str) -> Response:
    """Dates and rules of the phases of a challenge."""
    read = read_challenge(database, slug, identity.user)
    return render(request, "challenge_rules.html", **shown_on_all_tabs(read, now()))


@router.get("/challenges/{slug}/cite")
def citation_page(request: Request, database: DatabaseDep, identity: CurrentIdentity, slug: str) -> Response:
    """How to cite a challenge, and whom to ask."""
    read = read_challenge(database, slug, identity.user)
    return render(request, "challenge_cite.html", **shown_on_all_tabs(read, now()))


def shown_on_all_tabs(read: ReadChallenge, at: datetime, *, is_preview: bool = False) -> dict[str, Any]:
    """Return what the head and the side of all of a challenge's pages show.

    Args:
        is_preview: whether organisers look at the page as participants will see it.
    """
    challenge = read.challenge
    phase = current_phase(challenge, at)
    return {
        "challenge": challenge,
        "edition": edition_of(challenge),
        "organises": read.organises and not is_preview,
        "is_preview": is_preview,
        "imported": read.imported,
        "files": read.files,
        "steps": read.steps,
        "phase": phase,
        "state": phase.state(at),
        "timeline": timeline(challenge, at),
        "dates": dates_of(challenge, at),
        "at": at,
    }


def dates_of(challenge: Challenge, at: datetime) -> list[ChallengeDate]:
    """Return the dates of a challenge in their order, with today; those that will never come are left out."""
    phases, archived_at = phases_of(challenge), challenge.archived_at
    by_instant: dict[tuple[datetime, str], list[str]] = {}
    for phase in phases:
        of = f"{phase.title}: " if len(phases) > 1 else ""
        rules = phase.rules
        of_submissions = [
            (rules.opens_at, "submissions open"),
            (rules.closes_at, "submissions close"),
            (phase.freezes_at, "ranks are final"),
        ]
        found = [one for one in of_submissions if not (archived_at and one[0] and one[0] > archived_at)]
        found += [
            (None if phase.is_leaderboard_visible(at) else rules.leaderboard_from, "leaderboards appear"),
            (rules.anonymous_until if phase.is_anonymous(at) else None, "names appear"),
        ]
        for instant, what in found:
            if instant is not None:
                by_instant.setdefault((instant, of), []).append(what)
    dated = [
        ChallengeDate(of + _sentence(found), instant, is_past=instant <= at)
        for (instant, of), found in by_instant.items()
    ]
    if archived_at is not None:
        dated.append(ChallengeDate("Archived", archived_at, is_past=True))
    dated.append(ChallengeDate("Today", at, is_today=True))
    in_order = sorted(dated, key=lambda each: (each.at or at, each.is_today))
    if phases[-1].rules.closes_at is None and archived_at is None:
        in_order.append(ChallengeDate("No deadline", None))
    return in_order


def _sentence(parts: Sequence[str]) -> str:
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def read_challenge(database: Database, slug: str, user: User | None) -> ReadChallenge:
    """Return what the pages of a challenge show.

    Raises:
        NotFoundError: there is no such challenge that the user may see.
    """
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, user)
        own = queries.submitted_by(session, challenge, user) if user is not None else ()
        organises = challenges.is_organiser(session, challenge, user)
        imported, files = imported_scores(session, challenge), _files(session, challenge, user)
        return ReadChallenge(challenge, organises, own, imported, files, _steps(session, challenge, user, now()))


def _steps(session: Session, challenge: Challenge, user: User | None, at: datetime) -> Sequence[str]:
    """Return what a person still has to do to take part in the current phase; nothing if it is closed."""
    phase = current_phase(challenge, at)
    if challenge.archived_at is not None or phase.state(at) is PhaseState.CLOSED:
        return ()
    steps = []
    if phase.rules.admission is Admission.REQUEST and not (user and is_listed(session, phase, user)):
        request = own_requests(session, challenge.id, user).get(phase.id) if user is not None else None
        has_asked = (
            request is not None and request.state is not RequestState.ADMITTED
        )  # if admitted, the admission has ended
        steps.append("See your request" if has_asked else "Ask to take part")
    current = terms.current(session, challenge.id)
    if current is not None:
        acceptance = terms.accepted(session, challenge.id, user) if user is not None else None
        if acceptance is None or acceptance.terms_id != current.id:
            steps.append("Accept the terms")
    return steps


def _read_overview(database: Database, slug: str, user: User | None) -> tuple[ReadChallenge, Sequence[Announcement]]:
    """Return what `read_challenge` does, and the latest announcements."""
    read = read_challenge(database, slug, user)
    with database.reading() as session:
        return read, latest_announcements(session, read.challenge, limit=ON_OVERVIEW)


def _files(session: Session, challenge: Challenge, viewer: User | None) -> ShownFiles:
    found = challenge_files.files_of(session, challenge.id)
    of_kind = {kind: [one for one in found if one.kind is kind] for kind in FileKind}
    asks = any(one.audience is Audience.ADMITTED for one in found)
    return ShownFiles(
        cover=next(iter(of_kind[FileKind.COVER]), None),
        logos=of_kind[FileKind.LOGO],
        data=of_kind[FileKind.DATA],
        may_download=asks and is_admitted(session, challenge, viewer),
    )


def listed(found: Sequence[Challenge]) -> list[ListedChallenge]:
    """What a list shows of challenges."""
    at = now()
    current = [(item, current_phase(item, at)) for item in found]
    return [ListedChallenge(item, edition_of(item), phase, phase.state(at)) for item, phase in current]


def timeline(challenge: Challenge, at: datetime) -> list[TimelinePhase]:
    """The phases of a challenge as a page shows them."""
    current = current_phase(challenge, at)
    return [TimelinePhase(phase, phase.state(at), is_current=phase == current) for phase in phases_of(challenge)]


def competitions_of(challenge: Challenge, phase: Phase) -> list[Competition]:
    """The competitions of a phase, with their rules."""
    known = edition_of_phase(challenge, phase).competitions
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
        content = TASKS[rules.task].content(rules)
        line = real_line(content, rules.classes[0]) if TASKS[rules.task].content_is_lines else ""
        pattern = {"competition": item.key, "image_set": item.image_set, "image": "<image>", "class": rules.classes[0]}
        formats.setdefault(rules.task, TaskFormat(rules, TASKS[rules.task], rules.file.format(**pattern), line))
    return list(formats.values())


_REAL = {
    "image": "2008_000008",
    "confidence": "0.8743",
    "left": "53",
    "top": "87",
    "right": "471",
    "bottom": "420",
    "object index": "1",
}


def real_line(content: str, class_name: str) -> str:
    """Return a line of a result file with real numbers; nothing for content that is not such a line.

    >>> real_line("<image> <confidence> <left> <top> <right> <bottom>", "dog")
    '2008_000008 0.8743 53 87 471 420'
    >>> real_line("<results><layout>...</layout></results>", "dog")
    ''
    """
    values = {**_REAL, "class": class_name}
    fields = re.findall("<([^<>]*)>", content)
    if not fields or not values.keys() >= set(fields):
        return ""
    return re.sub("<([^<>]*)>", lambda found: values[found[1]], content)


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
