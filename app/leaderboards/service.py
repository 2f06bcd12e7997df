"""The leaderboard of a phase and competition: its published methods, ranked, with the best of each column marked."""

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, Detail
from vocboard.app.challenges.phases import Phase, edition_of_phase
from vocboard.app.database import now
from vocboard.app.errors import NotFoundError
from vocboard.app.evaluations.rounding import shown
from vocboard.app.evaluations.visibility import allowed
from vocboard.app.leaderboards import entries, freezing
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.ranking import Standing, best, order, ranks
from vocboard.app.rescores.queries import Correction, corrections
from vocboard.app.submissions.declarations import Statement, statements
from vocboard.evaluator.editions import BACKGROUND, Competition, Metric
from vocboard.evaluator.tasks.definitions import METRICS, TASKS

HIDDEN = "hidden"  # what people have written, on an anonymous leaderboard


class Part(StrEnum):
    """Which results of a phase a leaderboard shows."""

    COUNTING = "counting"
    LATER = "later"  # published after it was frozen


@dataclass(frozen=True, slots=True)
class _Content:
    """What a leaderboard is made of, live or kept since it was frozen."""

    challenge_title: str
    decimals: int
    detail: Detail
    entries: tuple[Entry, ...]
    corrections: tuple[Correction, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A score for display.

    Attributes:
        value: a fraction, rounded to the challenge's decimals; None if undefined or not entered.
        is_entered: False for a class without results, as opposed to an undefined score.
        is_best: whether no score in its column is better, before rounding.
    """

    value: float | None
    is_entered: bool
    is_best: bool


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One published method.

    Attributes:
        rank: 1 for the first; None if the mean is undefined.
        submission_id: None on an anonymous leaderboard, where `method` is a label and nothing is said of people.
        declared: what the competition asks its entrants to state.
        mean_over: how many classes the mean is over.
        is_complete: whether every class of the competition was entered.
        cells: one for each class of the leaderboard.
        others: the means of the leaderboard's other metrics.
    """

    rank: int | None
    submission_id: uuid.UUID | None
    method: str
    contributors: str
    affiliation: str
    declared: tuple[Statement, ...]
    submitted_at: datetime
    mean: Cell
    mean_over: int
    is_complete: bool
    cells: tuple[Cell, ...]
    others: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """The leaderboard of one competition in one phase of a challenge.

    Attributes:
        phase: its key.
        metric: what the columns are of, and what ranks.
        classes: the columns; none where the detail level is `mean`.
        decimals: how many of a score's are shown.
        rows: by rank.
        has_curves: whether curves are visible.
        others: metrics whose mean is shown next to that of `metric`.
        corrections: re-scores that have been applied, the latest first.
        part: whether it shows what counts, or what was published after it was frozen.
        frozen_at: when what counts stopped changing; None if it still may.
        is_anonymous: whether it shows no names.
    """

    challenge: str
    challenge_title: str
    phase: str
    competition: Competition
    metric: Metric
    classes: tuple[str, ...]
    decimals: int
    rows: tuple[BoardRow, ...]
    others: tuple[Metric, ...] = ()
    has_curves: bool = False
    corrections: tuple[Correction, ...] = ()
    part: Part = Part.COUNTING
    frozen_at: datetime | None = None
    is_anonymous: bool = False


class NotFrozenYetError(Exception):
    """The leaderboard's freezing date has come, and `freezing.freeze_due` has not made its copy yet."""


def board(
    session: Session,
    challenge: Challenge,
    phase: Phase,
    competition: str,
    *,
    part: Part = Part.COUNTING,
    at: datetime | None = None,
) -> Board:
    """Return a leaderboard, in at most five statements however long it is.

    It is the same for everyone, its organisers included: what the phase's detail level shows to participants.

    Args:
        challenge: with its competitions and phases.
        at: the present instant.

    Raises:
        NotFoundError: the phase has no such competition; or nothing can be later, because it is not frozen.
        NotFrozenYetError: it is frozen, and nobody has made the copy.
    """
    at = at or now()
    rules = rules_of(challenge, phase, competition)
    kept = None
    if phase.is_frozen(at):
        kept = freezing.find(session, challenge, phase, competition)
        if kept is None:
            raise NotFrozenYetError
    elif part is Part.LATER:
        raise NotFoundError("This leaderboard is not frozen, so there are no later results.")
    if kept is None:
        content = _live(session, challenge, phase, rules)
    else:
        content = _kept(kept.content)
        if part is Part.LATER:
            content = _later(_live(session, challenge, phase, rules), content)
    is_anonymous = phase.is_anonymous(at)
    if is_anonymous:
        content = _without_names(content)
    permitted = allowed(content.detail, is_organiser=False)
    classes = columns(rules) if permitted.classes else ()
    return Board(
        challenge=challenge.slug,
        challenge_title=content.challenge_title,
        phase=phase.key,
        competition=rules,
        metric=rules.rules.metric,
        others=rules.rules.board,
        classes=classes,
        decimals=content.decimals,
        rows=_ranked(content, rules, classes, is_anonymous=is_anonymous),
        has_curves=permitted.curves and TASKS[rules.task].has_curves and not is_anonymous,
        corrections=content.corrections,
        part=part,
        frozen_at=None if kept is None else kept.frozen_at,
        is_anonymous=is_anonymous,
    )


def rules_of(challenge: Challenge, phase: Phase, competition: str) -> Competition:
    """Return the rules of a competition that a phase runs.

    Raises:
        NotFoundError: the challenge has no such competition.
    """
    rules = edition_of_phase(challenge, phase).competitions.get(competition)
    if rules is None or competition not in phase.competitions:
        raise NotFoundError("The challenge has no such competition.")
    return rules


def _live(session: Session, challenge: Challenge, phase: Phase, rules: Competition) -> _Content:
    found = entries.published(session, challenge, phase.key, rules.key, rules.rules.board)
    return _Content(
        challenge_title=challenge.title,
        decimals=challenge.decimals,
        detail=phase.rules.detail,
        entries=tuple(one.entry for one in found),
        corrections=corrections(session, challenge),
    )


def _kept(kept: Mapping[str, Any]) -> _Content:
    return _Content(
        challenge_title=kept["challenge_title"],
        decimals=kept["decimals"],
        detail=Detail(kept["detail"]),
        entries=tuple(map(Entry.from_json, kept["entries"])),
        corrections=tuple(map(Correction.from_json, kept["corrections"])),
    )


def _later(live: _Content, kept: _Content) -> _Content:
    counted = {entry.submission_id for entry in kept.entries}
    return replace(live, entries=tuple(one for one in live.entries if one.submission_id not in counted))


def _without_names(content: _Content) -> _Content:
    """The same without anything that people have written, and without what leads to it."""
    return replace(
        content,
        entries=tuple(
            replace(
                entry,
                method=_label(entry.submission_id),
                contributors="",
                affiliation="",
                declared=replace(entry.declared, training_data=HIDDEN if entry.declared.training_data else ""),
            )
            for entry in content.entries
        ),
        corrections=tuple(one if one.method is None else replace(one, method=HIDDEN) for one in content.corrections),
    )


def _label(submission_id: uuid.UUID) -> str:
    """What a method is called on an anonymous leaderboard: always the same, and without a way back to its id."""
    return f"Method {hashlib.sha256(submission_id.bytes).hexdigest()[:6]}"


def _ranked(
    content: _Content, rules: Competition, classes: Sequence[str], *, is_anonymous: bool
) -> tuple[BoardRow, ...]:
    found, others, metric = content.entries, rules.rules.board, rules.rules.metric
    standings = [Standing(entry.mean, entry.is_complete, entry.submitted_at) for entry in found]
    places = order(standings, higher_is_better=METRICS[metric].higher_is_better)
    best_of_class = {name: _best(metric, (entry.classes.get(name) for entry in found)) for name in classes}
    best_mean = _best(metric, (entry.mean for entry in found))
    best_others = {other: _best(other, (entry.others.get(other) for entry in found)) for other in others}

    def cell(value: float | None, is_entered: bool, best_value: float | None) -> Cell:
        return Cell(shown(value, content.decimals), is_entered, value is not None and value == best_value)

    def row(rank: int | None, entry: Entry) -> BoardRow:
        return BoardRow(
            rank=rank,
            submission_id=None if is_anonymous else entry.submission_id,
            method=entry.method,
            contributors=entry.contributors,
            affiliation=entry.affiliation,
            declared=statements(entry.declared, rules.declarations),
            submitted_at=entry.submitted_at,
            mean=cell(entry.mean, True, best_mean),
            mean_over=entry.mean_over,
            others=tuple(cell(entry.others.get(other), other in entry.others, best_others[other]) for other in others),
            is_complete=entry.is_complete,
            cells=tuple(cell(entry.classes.get(name), name in entry.classes, best_of_class[name]) for name in classes),
        )

    ranked = ranks(standings[place] for place in places)
    return tuple(row(rank, found[place]) for rank, place in zip(ranked, places, strict=True))


def _best(metric: Metric, values: Iterable[float | None]) -> float | None:
    return best(values, higher_is_better=METRICS[metric].higher_is_better)


def columns(competition: Competition) -> tuple[str, ...]:
    """Return the columns of a competition: its classes, preceded by the background if it is scored."""
    return (BACKGROUND, *competition.classes) if TASKS[competition.task].has_background else competition.classes
