"""What organisers see of the methods on the leaderboards of two image sets, such as VOC2005's test1 and test2."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, edition_of_phase
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.ranking import order
from vocboard.app.leaderboards.service import statistics_basis
from vocboard.app.statistics import image_sets
from vocboard.app.statistics.boards import decimals_of, digest_of
from vocboard.app.statistics.image_sets import ImageSetStatistics
from vocboard.app.statistics.sequences import Change
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.tasks.registries.definitions import METRICS


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
    for both in image_sets.comparable(known[key] for key in phase.competitions if key in known):
        first, second = (statistics_basis(session, challenge, phase, one.key, at=at) for one in both)
        if competition not in {one.key for one in both} or first is None or second is None:
            continue
        pairs = image_sets.on_both(first.entries, second.entries)
        decimals = decimals_of(min(first.decimals, second.decimals))
        digest = digest_of((entry.result_id for pair in pairs for entry in pair), decimals)
        stored = session.scalars(image_sets.of_competitions(phase.id, both)).one_or_none()
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
