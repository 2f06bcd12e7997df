"""What organisers see of the methods on the leaderboards of two image sets, such as VOC2005's test1 and test2."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, edition_of_phase
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.models import ImageSetComparison
from vocboard.app.leaderboards.ranking import order
from vocboard.app.leaderboards.sequences import Change, StoredChange
from vocboard.app.leaderboards.service import statistics_basis
from vocboard.app.leaderboards.statistics import Stored, decimals_of, digest_of
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.tasks.definitions import METRICS


@dataclass(frozen=True, slots=True)
class MethodOnBoth:
    """One submission that is on the leaderboards of two image sets.

    Attributes:
        first, second: its entries.
        difference: of the second mean minus the first.
        change: whether that is more than chance; None if not reported.
    """

    first: Entry
    second: Entry
    difference: float
    change: Change | None

    @property
    def means(self) -> tuple[float | None, float | None]:
        """The two means."""
        return self.first.mean, self.second.mean


@dataclass(frozen=True, slots=True)
class OnBothImageSets:
    """The submissions that are on the leaderboards of two competitions that differ in nothing but the image set.

    Attributes:
        first, second: the competitions.
        methods: in the order of the first leaderboard.
        is_compared: whether intervals and the numbers of pairs below are known.
        pairs: number of pairs of methods.
        same: pairs that differ by more than chance on both image sets, in the same direction.
        reversed: in opposite directions.
        swapped: pairs in which each method is better on one image set, however small the differences.
    """

    first: Competition
    second: Competition
    methods: Sequence[MethodOnBoth]
    is_compared: bool
    pairs: int
    same: int
    reversed: int
    swapped: int

    @property
    def competitions(self) -> tuple[str, str]:
        """Keys of the two competitions."""
        return self.first.key, self.second.key

    @property
    def image_sets(self) -> tuple[str, str]:
        """Names of the two image sets."""
        return self.first.image_set, self.second.image_set


def on_both_image_sets(
    session: Session, challenge: Challenge, phase: Phase, competition: str, *, at: datetime
) -> list[OnBothImageSets]:
    """Return the comparisons of a competition with each that differs in nothing but the image set.

    The viewer organises the challenge (the caller checks).

    Args:
        challenge: with its competitions and phases.
        at: the current time.
    """
    known = edition_of_phase(challenge, phase).competitions
    listed = []
    for both in comparable(known[key] for key in phase.competitions if key in known):
        if competition not in {one.key for one in both}:
            continue
        bases = [statistics_basis(session, challenge, phase, one.key, at=at, with_classes=False) for one in both]
        first, second = bases
        if first is None or second is None:
            continue
        pairs = on_both(first.entries, second.entries)
        decimals = decimals_of(min(first.decimals, second.decimals))
        digest = digest_of((entry.result_id for pair in pairs for entry in pair), decimals)
        stored = session.scalars(of_competitions(phase.id, both)).one_or_none()
        is_compared = stored is not None and stored.methods_sha256 == digest
        found = ImageSetStatistics.from_json(stored.content) if stored is not None and is_compared else None
        changes = [None] * len(pairs) if found is None else found.changes
        methods = [
            MethodOnBoth(*pair, (pair[1].mean or 0.0) - (pair[0].mean or 0.0), change)
            for pair, change in zip(pairs, changes, strict=True)
        ]
        standings = [one.first.as_shown(first.decimals).standing for one in methods]
        higher_is_better = METRICS[both[0].rules.metric].higher_is_better
        ranked = [methods[place] for place in order(standings, higher_is_better=higher_is_better)]
        listed.append(
            OnBothImageSets(
                *both,
                ranked,
                is_compared,
                pairs=len(methods) * (len(methods) - 1) // 2,
                same=0 if found is None else found.same,
                reversed=0 if found is None else found.reversed,
                swapped=sum(_are_swapped(*two) for two in combinations(methods, 2)),
            )
        )
    return listed


def _are_swapped(one: MethodOnBoth, other: MethodOnBoth) -> bool:
    first = (one.first.mean or 0.0) - (other.first.mean or 0.0)
    second = (one.second.mean or 0.0) - (other.second.mean or 0.0)
    return first * second < 0


MAX_METHODS = 300
VERSION = 2  # of the computation: increase it when the same results would give other numbers

Pair = tuple[Entry, Entry]  # of one submission, in each competition


@dataclass(frozen=True, slots=True)
class ImageSetStatistics(Stored):
    """How the scores of methods change from one image set to the other, and whether their order holds.

    Attributes:
        changes: of each method, the second score minus the first; None if not reported.
        same: number of pairs of methods that differ by more than chance on both image sets, in the same direction.
        reversed: in opposite directions.
    """

    changes: Sequence[StoredChange | None]
    same: int
    reversed: int


def comparable(competitions: Iterable[Competition]) -> list[tuple[Competition, Competition]]:
    """Return the pairs of competitions that differ in nothing but the image set (and number and key)."""
    return [
        (one, other)
        for one, other in combinations(competitions, 2)
        if one.image_set != other.image_set
        and replace(other, key=one.key, number=one.number, image_set=one.image_set) == one
    ]


def on_both(one: Sequence[Entry], other: Sequence[Entry]) -> list[Pair]:
    """Return the submissions that are on both leaderboards and entered every class, by their identifiers.

    Empty if there are more than `MAX_METHODS`.
    """
    found = {entry.submission_id: entry for entry in other if _can_be_compared(entry)}
    pairs = [
        (entry, found[entry.submission_id]) for entry in one if _can_be_compared(entry) and entry.submission_id in found
    ]
    return sorted(pairs, key=lambda pair: pair[0].submission_id) if len(pairs) <= MAX_METHODS else []


def of_competitions(phase_id: uuid.UUID, competitions: tuple[Competition, Competition]) -> Select[ImageSetComparison]:
    """Return the query for what is stored of two competitions of `comparable`."""
    return select(ImageSetComparison).where(
        ImageSetComparison.phase_id == phase_id,
        ImageSetComparison.competition == competitions[0].key,
        ImageSetComparison.other == competitions[1].key,
    )


def _can_be_compared(entry: Entry) -> bool:
    return entry.is_complete and entry.mean is not None and entry.result_id is not None
