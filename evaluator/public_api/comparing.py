"""The public function to compare methods."""

from collections.abc import Mapping

from vocboard.evaluator.evidence.weights import REPLICATES
from vocboard.evaluator.names import Metric
from vocboard.evaluator.public_api.results import CompetitionResult, EvaluationResult
from vocboard.evaluator.statistics.compared import compare_class
from vocboard.evaluator.statistics.comparison import Comparison
from vocboard.evaluator.statistics.comparison import compare as compare_scores
from vocboard.evaluator.tasks.definitions import METRICS


def compare(
    results: Mapping[str, CompetitionResult | EvaluationResult],
    *,
    class_name: str | None = None,
    replicates: int = REPLICATES,
) -> Comparison:
    """Compare methods on the same test images, by the bootstrap; docs/statistics.md explains the comparison.

    Args:
        results: by method, of the same competition and ground truth.
        class_name: the class whose scores are compared. Default: the mean.
        replicates: number of replicates.

    Returns:
        An object with `methods` by score, `first_group` (those that cannot be distinguished from the best one),
        `rank_ranges` and `differences`, in a class with p-values that are corrected for all classes, too.

    Raises:
        ValueError: the results are not of the same competition, metric and ground truth, their means are over different
            classes, or a score is undefined; there are fewer than 100 replicates.
        KeyError: a result does not have the class.
    """
    chosen = {name: each.only if isinstance(each, EvaluationResult) else each for name, each in results.items()}
    kinds = {(each.edition, each.competition, each.metric, each.ground_truth) for each in chosen.values()}
    if len(kinds) != 1:
        raise ValueError("only results of the same competition and ground truth can be compared")
    if class_name is None and len({frozenset(each.per_class) for each in chosen.values()}) != 1:
        raise ValueError("means over different classes have no common scale; choose a class with class_name")
    drawn = {name: each.bootstrap(replicates).primary for name, each in chosen.items()}
    if class_name is not None:
        return compare_class(drawn, class_name)
    metric = Metric(next(iter(chosen.values())).metric)
    scores = {name: each.mean for name, each in drawn.items()}
    return compare_scores(scores, higher_is_better=METRICS[metric].higher_is_better)
