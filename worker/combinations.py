"""Score of a simple combination of a leaderboard's first methods, from their evidence."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.ranking import order
from vocboard.app.leaderboards.sequences import Agreement, Combination
from vocboard.app.leaderboards.service import StatisticsBasis
from vocboard.app.leaderboards.shown_statistics import MEAN
from vocboard.app.leaderboards.statistics import MAX_METHODS_BY_CLASS, decimals_of
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.names import Task
from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.statistics.across import RankCombination
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.statistics.intervals import ReplicatedScore
from vocboard.evaluator.statistics.simultaneous import changes, minus
from vocboard.evaluator.tasks.definitions import METRICS
from vocboard.worker.comparisons import Computed, Load, shown_change
from vocboard.worker.replicates import weights_of

NUMBERS = (2, 3, 5, 10)  # of methods that are combined; and all


def with_combinations(
    computed: Computed, basis: StatisticsBasis, edition: Edition, load: Load, load_evidence: Callable[[Entry], Evidence]
) -> Computed:
    """Return the same statistics with what the first methods reach together, where their results can be combined.

    Args:
        basis: of which the statistics are.
        edition: whose rules apply.
        load: returns the replicates of an entry.
        load_evidence: returns the evidence of an entry.
    """
    listed = [entry for entry in basis.entries if entry.is_complete and entry.mean is not None]
    can_be_combined = MEAN in computed.differences and 2 <= len(listed) <= MAX_METHODS_BY_CLASS
    if not can_be_combined or basis.competition.task is not Task.CLASSIFICATION:
        return computed
    standings = [entry.as_shown(basis.decimals).standing for entry in listed]
    higher_is_better = METRICS[basis.competition.rules.metric].higher_is_better
    ranked = [listed[place] for place in order(standings, higher_is_better=higher_is_better)]
    numbers = sorted({*(number for number in NUMBERS if number < len(ranked)), len(ranked)})
    means = _means((load_evidence(entry) for entry in ranked), numbers, edition, basis.competition)
    first = load(ranked[0]).measure().mean
    try:
        found = changes([minus(mean, first) for mean in means])
    except ValueError:  # there are no combinations, or too few replicates define all scores
        return computed
    classes, decimals = len(basis.competition.classes), decimals_of(basis.decimals)
    combinations = [
        Combination(number, round(mean.score, basis.decimals), shown_change(change, decimals, classes=classes))
        for number, mean, change in zip(numbers, means, found, strict=True)
    ]
    agreement = computed.agreement or Agreement([], [], [])
    return replace(computed, agreement=replace(agreement, combinations=combinations))


def _means(
    evidence: Iterable[Evidence], numbers: Sequence[int], edition: Edition, competition: Competition
) -> list[ReplicatedScore]:
    """Return the mean of the combination of each number of methods; none if their results cannot be matched."""
    combination = RankCombination()
    means = []
    for number, each in enumerate(evidence, start=1):
        if not combination.add(each):
            return []
        if number in numbers:
            combined = combination.evidence()
            weights = weights_of(combined.images)
            means.append(replicate(combined, competition.rules.metric, edition, competition, weights).mean)
    return means
