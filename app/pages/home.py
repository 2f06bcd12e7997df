"""The first page: what this site is, and all challenges with their leaders."""

import asyncio
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import files
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge, ChallengeFile
from vocboard.app.challenges.phases import Phase, PhaseState
from vocboard.app.database import Database, now
from vocboard.app.errors import NotFoundError
from vocboard.app.leaderboards import queries
from vocboard.app.leaderboards.current import Boards, HiddenLeaderboardError
from vocboard.app.leaderboards.queries import Revision
from vocboard.app.leaderboards.standings import Standings, fullest, standings
from vocboard.app.pages.challenges import ListedChallenge, listed
from vocboard.app.pages.rendering import render
from vocboard.app.web.dependencies import BoardsDep, DatabaseDep, SettingsDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.app.web.routes import Routes

router = Routes()

UPCOMING = frozenset({PhaseState.NOT_YET_OPEN, PhaseState.NOT_READY})
CLOSED = frozenset({PhaseState.CLOSED, PhaseState.ARCHIVED})
GROUPS = ("Open", "Upcoming", "Frozen", "Closed")


@dataclass(frozen=True, slots=True)
class Card:
    """A challenge on the first page.

    Attributes:
        standings: of its leaderboard with the most methods; None if its leaderboards are not visible yet.
        entries: methods on all of its leaderboards, each counted once for each.
        boards: how many of its leaderboards have methods.
        visible_from: when its leaderboards become visible, if they are not.
        other_phase: whose results it shows, if the current phase has none yet.
    """

    listed: ListedChallenge
    standings: Standings | None
    entries: int = 0
    boards: int = 0
    visible_from: datetime | None = None
    other_phase: Phase | None = None

    @property
    def phase_query(self) -> str:
        """Of the addresses of its leaderboards."""
        return "" if self.other_phase is None else f"?phase={self.other_phase.key}"


@router.get("/")
async def home_page(
    request: Request, database: DatabaseDep, boards: BoardsDep, settings: SettingsDep, identity: CurrentIdentity
) -> Response:
    """List all challenges that the user may see: the open ones, those to come, and those that are over."""
    found, own, covers, revisions = await run_in_threadpool(_read, database, identity.user)
    current = [(item, revisions.get(item.challenge.id)) for item in listed(found)]
    cards = await asyncio.gather(*(_card(boards, item, identity.user, own, each) for item, each in current))
    groups = [(title, in_order(card for card in cards if group_of(card.listed) == title)) for title in GROUPS]
    return await run_in_threadpool(
        render,
        request,
        "home.html",
        covers=covers,
        groups=[(title, members) for title, members in groups if members],
        notice=settings.notice,
        at=now(),
    )


def group_of(item: ListedChallenge) -> str:
    """Return the group of a challenge. One whose leaderboards are frozen takes results that do not count any more."""
    if item.state in UPCOMING:
        return "Upcoming"
    if item.state in CLOSED:
        return "Closed"
    return "Frozen" if item.phase.is_frozen(now()) else "Open"


def in_order(cards: Iterable[Card]) -> list[Card]:
    """Return the cards of a group as people look for them.

    What opens, closes or has closed nearest to now comes first, what has no such date or is archived last. Of equals,
    those with the latest results come first: they are in use.
    """
    at = now()

    def place(card: Card) -> tuple[bool, float, float, str]:
        rules = card.listed.phase.rules
        date = rules.opens_at if card.listed.state in UPCOMING else rules.closes_at
        latest = card.standings.latest if card.standings else None
        in_use = -latest.timestamp() if latest else 0.0
        if date is None or card.listed.state is PhaseState.ARCHIVED:
            return True, 0.0, in_use, card.listed.challenge.title
        return False, abs((date - at).total_seconds()), in_use, card.listed.challenge.title

    return sorted(cards, key=place)


def _read(
    database: Database, user: User | None
) -> tuple[Sequence[Challenge], Collection[uuid.UUID], Mapping[uuid.UUID, ChallengeFile], Mapping[uuid.UUID, Revision]]:
    with database.reading() as session:
        own = queries.all_submitted_by(session, user) if user is not None else ()
        found = challenges.visible_challenges(session, user)
        ids = [one.id for one in found]
        return found, own, files.covers_of(session, ids), queries.revisions(session, ids)


async def _card(
    boards: Boards,
    item: ListedChallenge,
    viewer: User | None,
    own: Collection[uuid.UUID],
    revision: Revision | None,
) -> Card:
    slug = item.challenge.slug
    try:
        current = await boards.with_results(item.challenge, viewer, revision)
        if (key := fullest(current)) != current.board.competition.key:
            current = await boards.get(slug, key, viewer, phase_key=current.phase.key, revision=revision)
    except HiddenLeaderboardError as error:
        return Card(item, None, visible_from=error.visible_from)
    except NotFoundError:  # it was made a draft, or its phase has changed, since the list was read
        return Card(item, None)
    other_phase = None if current.phase.key == item.phase.key else current.phase
    found = standings(current.board, own)
    return Card(item, found, sum(current.counts.values()), len(current.counts), other_phase=other_phase)
