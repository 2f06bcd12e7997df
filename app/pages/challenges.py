"""Pages of challenges: the list, and details of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from starlette.responses import Response

from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.service import Phase, PhaseState
from vocboard.app.database import now
from vocboard.app.pages import wording
from vocboard.app.pages.rendering import render
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.evaluator.editions import Competition, Edition, TaskRules
from vocboard.evaluator.tasks.definition import TaskDefinition
from vocboard.evaluator.tasks.definitions import TASKS

router = APIRouter()


@dataclass(frozen=True, slots=True)
class ListedChallenge:
    """A challenge, as shown in lists."""

    challenge: Challenge
    edition: Edition
    phase: Phase
    state: PhaseState

    @property
    def state_name(self) -> str:
        """The state in words."""
        return wording.PHASE_STATES[self.state]

    @property
    def tasks(self) -> list[str]:
        """The tasks of its competitions, each once."""
        return list(dict.fromkeys(TASKS[item.task].title for item in competitions_of(self.challenge, self.phase)))


@dataclass(frozen=True, slots=True)
class TimelinePhase:
    """A phase in the timeline of a challenge."""

    phase: Phase
    state: PhaseState
    is_current: bool

    @property
    def state_name(self) -> str:
        """The state in words."""
        return wording.PHASE_STATES[self.state]


@dataclass(frozen=True, slots=True)
class TaskFormat:
    """The result files of one task."""

    rules: TaskRules
    example: str

    @property
    def definition(self) -> TaskDefinition:
        """The definition of the task."""
        return TASKS[self.rules.task]


@router.get("/")
def challenge_list(
    request: Request, database: DatabaseDep, settings: SettingsDep, identity: CurrentIdentity
) -> Response:
    """List all challenges that the user may see."""
    with database.reading() as session:
        found = challenges.visible_challenges(session, identity.user)
    return render(request, "challenges.html", challenges=listed(found), notice=settings.notice)


@router.get("/challenges/{slug}")
def challenge_page(request: Request, database: DatabaseDep, identity: CurrentIdentity, slug: str) -> Response:
    """One challenge."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, identity.user)
        organises = challenges.is_organiser(session, challenge, identity.user)
    at = now()
    phase = challenges.current_phase(challenge, at)
    competitions = competitions_of(challenge, phase)
    state = phase.state(at)
    return render(
        request,
        "challenge.html",
        challenge=challenge,
        edition=challenges.edition_of(challenge),
        edition_argument=edition_argument(challenge),
        competitions=competitions,
        tasks=task_formats(competitions),
        organises=organises,
        ready=phase.scoring_id is not None,
        phase=phase,
        state=state,
        state_name=wording.PHASE_STATES[state],
        timeline=timeline(challenge, at),
        board_phase=challenges.leaderboard_phase(challenge, at),
        at=at,
    )


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


def edition_argument(challenge: Challenge) -> str:
    """Return the edition argument of `vocboard validate` for a challenge: its name, or the downloaded file."""
    return challenge.edition if challenge.edition_file is None else f"{challenge.edition}.toml"


def task_formats(competitions: Sequence[Competition]) -> list[TaskFormat]:
    """Return the result files of each task, with the task's first competition as example."""
    formats: dict[str, TaskFormat] = {}
    for item in competitions:
        rules = item.rules
        pattern = {"competition": item.key, "image_set": item.image_set, "image": "<image>", "class": rules.classes[0]}
        formats.setdefault(rules.task, TaskFormat(rules, rules.file.format(**pattern)))
    return list(formats.values())
