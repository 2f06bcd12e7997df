"""Pages of challenges: the list, and details of one."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response

from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.service import Phase
from vocboard.app.database import now
from vocboard.app.pages import wording
from vocboard.app.pages.rendering import render
from vocboard.app.web.dependencies import DatabaseDep
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

    @property
    def phase_name(self) -> str:
        """The name of the phase."""
        return wording.PHASES[self.phase]

    @property
    def tasks(self) -> list[str]:
        """The tasks of its competitions."""
        return list(dict.fromkeys(TASKS[item.task].title for item in competitions_of(self.challenge)))


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
def challenge_list(request: Request, database: DatabaseDep, identity: CurrentIdentity) -> Response:
    """List all challenges that the user may see."""
    with database.reading() as session:
        found = challenges.visible_challenges(session, identity.user)
    return render(request, "challenges.html", challenges=listed(found))


@router.get("/challenges/{slug}")
def challenge_page(request: Request, database: DatabaseDep, identity: CurrentIdentity, slug: str) -> Response:
    """One challenge."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, identity.user)
        organises = challenges.is_organiser(session, challenge, identity.user)
    phase = challenges.phase(challenge, now())
    competitions = competitions_of(challenge)
    return render(
        request,
        "challenge.html",
        challenge=challenge,
        edition=challenges.edition_of(challenge),
        edition_argument=edition_argument(challenge),
        competitions=competitions,
        tasks=task_formats(competitions),
        organises=organises,
        ready=challenge.current_scoring_id is not None,
        phase=phase,
        phase_name=wording.PHASES[phase],
    )


def listed(found: Sequence[Challenge]) -> list[ListedChallenge]:
    """Return challenges for a list."""
    instant = now()
    return [ListedChallenge(item, challenges.edition_of(item), challenges.phase(item, instant)) for item in found]


def competitions_of(challenge: Challenge) -> list[Competition]:
    """Return the competitions of a challenge, with their rules."""
    known = challenges.edition_of(challenge).competitions
    return [known[row.key] for row in challenge.competitions]


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
