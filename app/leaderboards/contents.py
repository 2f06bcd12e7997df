"""Contents of a leaderboard before ranking: read live, or from the copy of a frozen leaderboard."""

from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, Detail
from vocboard.app.challenges.phases import Phase
from vocboard.app.leaderboards import entries, freezing
from vocboard.app.leaderboards.corrections import Correction, Removal, corrections
from vocboard.app.leaderboards.entries import Entry, EntryCache
from vocboard.app.leaderboards.models import FrozenLeaderboard
from vocboard.evaluator.editions import Competition


@dataclass(frozen=True, slots=True)
class Content:
    """The contents of a leaderboard, live or stored when it was frozen."""

    challenge_title: str
    decimals: int
    detail: Detail
    ladder_step: float | None
    entries: tuple[Entry, ...]
    corrections: tuple[Correction, ...]
    has_statistics: bool
    removals: tuple[Removal, ...] = ()


def read_live(
    session: Session, challenge: Challenge, phase: Phase, rules: Competition, cache: EntryCache | None
) -> Content:
    """Return what a leaderboard would show if it were not frozen.

    Args:
        cache: what has been read before.
    """
    read = entries.published if cache is None else cache.published
    found = read(session, phase.id, rules.key, rules.rules.board)
    found = entries.with_releases(session, challenge, phase, rules.key, found)
    return Content(
        challenge_title=challenge.title,
        decimals=challenge.decimals,
        detail=phase.rules.detail,
        ladder_step=phase.rules.ladder_step,
        entries=tuple(one.entry for one in found),
        corrections=corrections(session, challenge, phase, rules.key),
        has_statistics=challenge.statistics,
    )


def read_frozen(session: Session, frozen: FrozenLeaderboard) -> Content:
    """Return what a frozen leaderboard shows: its copy, without what organisers have removed since."""
    kept, removed = frozen.content, freezing.removals(session, frozen)
    shown = tuple(Entry.from_json(one) for one in kept["entries"] if one["submission"] not in removed)
    announced = tuple(map(Correction.from_json, kept["corrections"]))
    if removed:  # nor are they named
        methods = {None, *(entry.method for entry in shown)}
        announced = tuple(one for one in announced if one.method in methods)
    return Content(
        challenge_title=kept["challenge_title"],
        decimals=kept["decimals"],
        detail=Detail(kept["detail"]),
        ladder_step=kept.get("ladder_step"),
        entries=shown,
        corrections=announced,
        has_statistics=kept.get("statistics", False),
        removals=tuple(sorted(removed.values(), reverse=True)),
    )


def later_results(live: Content, frozen: Content) -> Content:
    """Return what was published after a leaderboard was frozen."""
    counted = {entry.submission_id for entry in frozen.entries}
    return replace(live, entries=tuple(one for one in live.entries if one.submission_id not in counted))
