"""The phases of a challenge: which there are, which is the current one, and whether it takes submissions.

Most challenges have one, the main phase. Organisers can add further ones. A submission belongs to the phase in which
its upload began.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlalchemy.orm import Session

from vocboard.app.challenges import queries
from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, ChallengePhase, Freeze
from vocboard.app.challenges.rules import PhaseRules, rules_of_phase
from vocboard.app.database import is_writing
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.evaluator.editions import Edition, for_image_set

MAX_UPLOAD_DURATION = timedelta(hours=1)  # an upload that begins before a deadline must end within this time after it
MAIN_PHASE_TITLE = "Main phase"  # unless the organisers rename it
ARCHIVED = "This challenge is archived. Its leaderboards remain available."
NO_GROUND_TRUTH = "You cannot submit yet: the ground truth is not ready."
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class PhaseState(StrEnum):
    """Whether a phase takes submissions now, and if not, why."""

    NOT_YET_OPEN = "not_yet_open"
    NOT_READY = "not_ready"  # within its dates, but without ground truth
    OPEN = "open"
    CLOSED = "closed"
    ARCHIVED = "archived"  # read-only


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a challenge.

    Attributes:
        key: its short name, used in URLs.
        rules: with its competitions listed, in the edition's order.
        image_set: the image set that all of its competitions are scored on; None for those that the edition names.
        truth_phase_id: the phase whose ground truth it uses: itself or the main phase.
        scoring_id: the current scoring; None before there is ground truth.
        is_archived: whether the challenge can only be read.
    """

    id: uuid.UUID
    key: str
    title: str
    rules: PhaseRules
    image_set: str | None
    truth_phase_id: uuid.UUID
    scoring_id: uuid.UUID | None
    is_archived: bool

    @property
    def is_main(self) -> bool:
        """Whether it is the first phase, which every challenge has."""
        return self.key == MAIN_PHASE

    @property
    def has_own_truth(self) -> bool:
        """Whether it has its own ground truth; otherwise it uses the main phase's."""
        return self.truth_phase_id == self.id

    @property
    def competitions(self) -> tuple[str, ...]:
        """Keys of its competitions."""
        return self.rules.competitions or ()

    @property
    def freezes_at(self) -> datetime | None:
        """When its leaderboards stop changing; None for never."""
        return freezing_date(self.rules)

    def state(self, at: datetime) -> PhaseState:
        """Return its state at an instant. It opens at the first instant and is closed from the last one."""
        if self.is_archived:
            return PhaseState.ARCHIVED
        if self.has_closed(at):
            return PhaseState.CLOSED
        if not self.has_opened(at):
            return PhaseState.NOT_YET_OPEN
        return PhaseState.OPEN if self.scoring_id is not None else PhaseState.NOT_READY

    def has_opened(self, at: datetime) -> bool:
        """Whether its first instant has come."""
        return self.rules.opens_at is None or self.rules.opens_at <= at

    def has_closed(self, at: datetime) -> bool:
        """Whether its last instant has passed."""
        return self.rules.closes_at is not None and self.rules.closes_at <= at

    def is_leaderboard_visible(self, at: datetime) -> bool:
        """Whether others than organisers may see its leaderboards and published results."""
        return self.rules.leaderboard_from is None or self.rules.leaderboard_from <= at

    def is_anonymous(self, at: datetime) -> bool:
        """Whether its leaderboards show no names."""
        return self.rules.anonymous_until is not None and at < self.rules.anonymous_until

    def ladder_step(self, at: datetime) -> float | None:
        """Return the step of the Ladder mechanism while it hides scores; None if they are shown.

        It hides them until the last upload that began before closing may have ended: somebody who has seen the scores
        could still choose what to upload.
        """
        if self.is_archived or (self.rules.closes_at is not None and self.rules.closes_at + MAX_UPLOAD_DURATION <= at):
            return None
        return self.rules.ladder_step

    def is_frozen(self, at: datetime) -> bool:
        """Whether its leaderboards have stopped changing."""
        return self.freezes_at is not None and self.freezes_at <= at


def freezing_date(rules: PhaseRules) -> datetime | None:
    """Return when the leaderboards of a phase with these rules stop changing; None for never."""
    match rules.freeze:
        case Freeze.CLOSING:
            return rules.closes_at
        case Freeze.DATE:
            return rules.freezes_at
        case Freeze.NEVER:
            return None


def phases_of(challenge: Challenge) -> tuple[Phase, ...]:
    """Return the phases of a challenge that was loaded with them, by opening date."""
    found = [_phase(challenge, row) for row in challenge.phases]
    return tuple(sorted(found, key=lambda phase: phase.rules.opens_at or _LONG_AGO))


def current_phase(challenge: Challenge, at: datetime) -> Phase:
    """Return the phase that submissions are made in, unless they name another.

    The open one, of several the one that opened last; those without ground truth only if all are. Otherwise the next
    to open; otherwise the last.
    """
    phases = phases_of(challenge)
    opened = [phase for phase in phases if phase.has_opened(at)]
    if still_open := [phase for phase in opened if not phase.has_closed(at)]:
        return ([phase for phase in still_open if phase.scoring_id is not None] or still_open)[-1]
    return phases[min(len(opened), len(phases) - 1)]


def leaderboard_phase(challenge: Challenge, at: datetime) -> Phase:
    """Return the phase whose leaderboards are shown unless another is named: the current one, once it has opened.

    Until the current one has ground truth, the last one that has opened and has some, if there is one.
    """
    current = current_phase(challenge, at)
    opened = [phase for phase in phases_of(challenge) if phase.has_opened(at)]
    shown = [phase for phase in opened if phase.scoring_id is not None] or opened
    return current if current in shown else (shown or [current])[-1]


def phase_named(challenge: Challenge, key: str) -> Phase:
    """Return a phase by its key.

    Raises:
        NotFoundError: the challenge has no such phase.
    """
    for row in challenge.phases:
        if row.key == key:
            return _phase(challenge, row)
    raise NotFoundError("The challenge has no such phase.")


def phase_with_id(challenge: Challenge, phase_id: uuid.UUID) -> Phase:
    """Return a phase of a challenge by its id, to which a row of the challenge refers."""
    return next(_phase(challenge, row) for row in challenge.phases if row.id == phase_id)


def phases_scored_with(challenge: Challenge, phase_id: uuid.UUID) -> list[Phase]:
    """Return the phases that use the ground truth of a phase: itself, and those without their own."""
    return [phase for phase in phases_of(challenge) if phase.truth_phase_id == phase_id]


def competitions_scored_with(challenge: Challenge, phase_id: uuid.UUID) -> list[str]:
    """Return the competitions of all phases that use the ground truth of a phase."""
    found = {key for phase in phases_scored_with(challenge, phase_id) for key in phase.competitions}
    return [competition for competition in edition_of(challenge).competitions if competition in found]


def earlier_phases(challenge: Challenge, phase: Phase) -> tuple[Phase, ...]:
    """Return the phases that open before this one."""
    phases = phases_of(challenge)
    return phases[: [each.key for each in phases].index(phase.key)]


def edition_of_phase(challenge: Challenge, phase: Phase) -> Edition:
    """Return the challenge's edition, with its competitions on the phase's image set."""
    return on_image_set(edition_of(challenge), phase.image_set)


def on_image_set(edition: Edition, image_set: str | None) -> Edition:
    """Return an edition with all competitions on an image set; None for those that it names."""
    return edition if image_set is None else for_image_set(edition, image_set)


def check_accepting(session: Session, challenge: Challenge, *, at: datetime, key: str | None = None) -> Phase:
    """Check that a phase takes submissions, and return it. In a writing transaction, it cannot change meanwhile.

    Args:
        at: when the upload began: a deadline is met by beginning before it.
        key: of the phase; None for the current one.

    Raises:
        NotFoundError: there is no such phase.
        ConflictError: it takes no submissions, and why.
    """
    present, phase = _as_it_is(session, challenge, at, key)
    subject = "This challenge" if len(present.phases) == 1 else f"The phase “{phase.title}”"
    match phase.state(at):
        case PhaseState.NOT_YET_OPEN:
            raise ConflictError(f"{subject} opens at {phase.rules.opens_at:%Y-%m-%d %H:%M} UTC.")
        case PhaseState.CLOSED:
            raise ConflictError(f"{subject} closed at {phase.rules.closes_at:%Y-%m-%d %H:%M} UTC.")
        case PhaseState.ARCHIVED:
            raise ConflictError(ARCHIVED)
        case PhaseState.NOT_READY:
            raise ConflictError(NO_GROUND_TRUTH)
    return phase


def check_can_be_scored(session: Session, challenge: Challenge, *, at: datetime, key: str | None = None) -> Phase:
    """Check that a phase has ground truth, open or not, and return it. In a writing transaction, it cannot change.

    Raises:
        NotFoundError: there is no such phase.
        ConflictError: it has no ground truth yet, or the challenge is archived.
    """
    _, phase = _as_it_is(session, challenge, at, key)
    if phase.is_archived:
        raise ConflictError(ARCHIVED)
    if phase.scoring_id is None:
        raise ConflictError(NO_GROUND_TRUTH)
    return phase


def _as_it_is(session: Session, challenge: Challenge, at: datetime, key: str | None) -> tuple[Challenge, Phase]:
    """Return the challenge and one of its phases: in a transaction that writes locked, otherwise as it was loaded."""
    present = queries.challenge_as_it_is(session, challenge.id) if is_writing(session) else challenge
    return present, current_phase(present, at) if key is None else phase_named(present, key)


def require_not_archived(challenge: Challenge) -> None:
    """Check that a challenge and what belongs to it may be changed.

    Raises:
        ConflictError: it is archived.
    """
    if challenge.archived_at is not None:
        raise ConflictError("This challenge is archived: it can be read, but not changed. An organiser can reopen it.")


def lock_to_change(session: Session, challenge: Challenge) -> None:
    """Lock a challenge of which something is about to change, so that nobody archives it in the meantime.

    Raises:
        ConflictError: it is archived.
    """
    queries.lock_challenge(session, challenge.id)
    require_not_archived(queries.challenge_as_it_is(session, challenge.id))


def _phase(challenge: Challenge, row: ChallengePhase) -> Phase:
    return Phase(
        id=row.id,
        key=row.key,
        title=row.title or MAIN_PHASE_TITLE,
        rules=rules_of_phase(row),
        image_set=row.image_set,
        truth_phase_id=row.truth_phase_id,
        scoring_id=row.current_scoring_id,
        is_archived=challenge.archived_at is not None,
    )
