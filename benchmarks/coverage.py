"""`python -m benchmarks.coverage`: how often 95 % intervals contain the true score, by method of computing them.

Made-up classes, whose score on all images is known, are drawn and bootstrapped as by the evaluator. Means are those of
1, 20 and 80 of them, put together at random again and again. `--real` draws test sets from the results of a real
detector instead. Printed for each setting: the bias of the score in its standard errors, and how often the intervals
contain the true score; at the end, the mean and the least of these shares for each method.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmarks.real_results import RealResults
from tests.evaluator.statistics.populations import AveragePrecision, BestF1, Binormal, NormalisedPrecision, Population
from vocboard.evaluator.editions import Interpolation
from vocboard.evaluator.evidence.average_precision import ResampledAveragePrecision
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.statistics.bias import bias_of, bias_of_mean, draw_parts
from vocboard.evaluator.statistics.influence import degrees_of_freedom, influences, student_quantile
from vocboard.evaluator.statistics.intervals import LEVEL, ReplicatedScore, mean_of_defined

CLASSES = (1, 20, 80)
MEANS = 600  # of classes put together, for each setting
REPLICATES = 1_000
NORMAL = NormalDist()
AREA, ELEVEN = Interpolation.AREA, Interpolation.ELEVEN_POINT

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of class.

    Attributes:
        positives: expected number in a test set.
        share: of the classes that are asked for: large ones take long.
    """

    population: Population
    images: int
    positives: int
    share: float = 1.0


def _settings() -> Iterator[Setting]:
    """Yield weak and strong methods with few and many positives."""
    for rule in (AREA, ELEVEN):
        for distance in (0.5, 1.0, 2.0, 3.0):
            yield Setting(Binormal(0.06, distance, 1.0, rule), 1_000, 60)
            if distance >= 1:
                yield Setting(Binormal(0.06, distance, 1.0, rule), 5_000, 300, 0.5)
        yield Setting(Binormal(0.06, 2.0, 0.7, rule), 1_000, 60)
        yield Setting(Binormal(0.06, 1.0, 1.5, rule), 1_000, 60)
        yield Setting(Binormal(0.4, 1.0, 1.0, rule), 5_000, 2_000, 0.25)
        yield Setting(Binormal(0.4, 2.0, 1.0, rule), 5_000, 2_000, 0.25)
        yield Setting(AveragePrecision(0.06, interpolation=rule), 1_000, 60)
        yield Setting(AveragePrecision(0.06, 0.4, 3.0, interpolation=rule), 1_000, 60)
        yield Setting(AveragePrecision(0.4, interpolation=rule), 5_000, 2_000, 0.25)
    for other in (NormalisedPrecision, BestF1):
        yield Setting(other(0.06), 1_000, 60)
        yield Setting(other(0.4), 5_000, 2_000, 0.25)


@dataclass(frozen=True, slots=True)
class Replicated:
    """A score, and what all methods use of its replicates.

    Attributes:
        outside: share of the replicates below the lower end of an expanded interval.
        low, high: ends of the expanded percentile interval.
    """

    score: ReplicatedScore
    outside: float
    low: float
    high: float
    mean: float
    error: float

    @classmethod
    def of(cls, score: ReplicatedScore) -> "Replicated":
        """Summarise replicates, of which some may be undefined."""
        defined = score.replicates[~np.isnan(score.replicates)]
        [freedom] = degrees_of_freedom(score.influence[None], len(defined))
        expanded = student_quantile(np.array([NORMAL.inv_cdf((1 + LEVEL) / 2)]), float(freedom))
        outside = NORMAL.cdf(-float(expanded[0]))
        low, high = np.quantile(defined, [outside, 1 - outside]).tolist()
        return cls(score, outside, low, high, float(defined.mean()), float(defined.std(ddof=1)))

    def moved(self, bias: float) -> Ends:
        """Return the percentile interval, moved so that the mean of the replicates is at the score minus a bias."""
        to = self.score.score - bias - self.mean
        return self.low + to, self.high + to

    def basic(self) -> Ends:
        """Return the percentile interval, mirrored at the score."""
        return 2 * self.score.score - self.high, 2 * self.score.score - self.low

    def bias_corrected(self) -> Ends:
        """Return the interval of Efron 1981: other percentiles, by the share of the replicates below the score."""
        below = np.clip(np.mean(self.score.replicates < self.score.score), 0.001, 0.999)
        z, shift = NORMAL.inv_cdf(self.outside), 2 * NORMAL.inv_cdf(float(below))
        low, high = np.nanquantile(self.score.replicates, [NORMAL.cdf(shift + z), NORMAL.cdf(shift - z)]).tolist()
        return low, high

    def student(self) -> Ends:
        """Return the score minus its bias, plus and minus its standard error times Student's quantile."""
        centre, margin = self.score.score - self.score.bias, -NORMAL.inv_cdf(self.outside) * self.error
        return centre - margin, centre + margin

    def ours(self) -> Ends:
        """Return the interval of vocboard."""
        found = self.score.interval()
        return found.low, found.high


METHODS: Mapping[str, Callable[[Replicated], Ends]] = {
    "percentile": lambda drawn: (drawn.low, drawn.high),
    "basic": Replicated.basic,
    "BC": Replicated.bias_corrected,
    "moved by the replicates' bias": lambda drawn: drawn.moved(drawn.mean - drawn.score.score),
    "moved by the parts' bias": lambda drawn: drawn.moved(drawn.score.bias),
    "Student around the moved centre": Replicated.student,
    "vocboard": Replicated.ours,
}


@dataclass(frozen=True, slots=True)
class Pool:
    """Classes of one setting, each in a test set of its own."""

    scores: NDArray[np.float64]
    replicates: NDArray[np.float64]
    influence: NDArray[np.float32]
    biases: NDArray[np.float64]

    def mean(self, places: NDArray[np.intp]) -> ReplicatedScore:
        """Return the mean of some classes, as if they had been in one test set."""
        replicates, influence = mean_of_defined(self.replicates[places]), self.influence[places].mean(axis=0)
        return ReplicatedScore(
            self.scores[places].mean(), replicates, influence, bias_of_mean(self.scores[places], self.biases[places])
        )


def _draw(setting: Setting, classes: int, random: np.random.Generator, *, is_unlimited: bool) -> tuple[Pool, float]:
    """Return classes, and the score on all images that their intervals should contain.

    For 11 points, the precision at recall 0 counts as on test sets of this size: it is the highest anywhere, and on
    infinitely many images some results are so confident that it is 100 %, however weak the method. Unless
    `is_unlimited`: then the score is that on infinitely many images.
    """
    weights, parts = draw_weights(setting.images, REPLICATES), draw_parts(setting.images)
    scores, replicates, biases, highest = [], [], [], []
    influence = np.empty((classes, setting.images), dtype=np.float32)
    for place in range(classes):
        [drawn] = setting.population.draw(setting.images, 1, random)
        scores.append(drawn.score())
        replicates.append(drawn.replicates(weights))
        influence[place] = influences(weights, replicates[-1][None])[0]
        biases.append(bias_of(drawn, drawn.replicates(parts)))
        if isinstance(drawn, ResampledAveragePrecision):
            curve = drawn.judgement.curve()
            highest.append(np.nanmax(curve.precision, initial=0.0))
    population = setting.population
    true = population.true_score()
    if not is_unlimited and isinstance(population, Binormal | AveragePrecision) and population.interpolation is ELEVEN:
        true += (float(np.mean(highest)) - population.highest_precision()) / 11
    return Pool(np.array(scores), np.array(replicates), influence, np.array(biases)), true


def _contains(score: ReplicatedScore, true: float) -> dict[str, bool]:
    drawn = Replicated.of(score)
    ends = {name: of(drawn) for name, of in METHODS.items()}
    return {name: low <= true <= high for name, (low, high) in ends.items()}


def _line(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{method} {100 * share:.1f}" for method, share in shares.items())


def _made_up(arguments: argparse.Namespace) -> Iterator[tuple[str, dict[str, float]]]:
    for number, setting in enumerate(_settings()):
        if arguments.only is not None and number not in arguments.only:
            continue
        random, began = np.random.default_rng([arguments.seed, number]), time.monotonic()
        number_drawn = max(80, int(arguments.classes * setting.share))
        pool, true = _draw(setting, number_drawn, random, is_unlimited=arguments.unlimited)
        error = pool.scores.std()
        print(
            f"\n{number} {setting.population}, {setting.images} images, {setting.positives} positives: true {true:.4f},"
            f" bias {(pool.scores.mean() - true) / error:+.2f}, as parts say {pool.biases.mean() / error:+.2f} errors"
        )
        for classes in CLASSES:
            found = []
            for _ in range(max(1, MEANS * classes // len(pool.scores))):
                order = random.permutation(len(pool.scores))
                for start in range(0, len(order) - classes + 1, classes):
                    found.append(_contains(pool.mean(order[start : start + classes]), true))
                    if len(found) >= MEANS:
                        break
            shares = {name: float(np.mean([each[name] for each in found])) for name in METHODS}
            print(f"  {classes:2}: {_line(shares)}")
            yield f"{classes}", shares
        print(f"  {time.monotonic() - began:.0f} s", flush=True)


def _real(arguments: argparse.Namespace) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the shares for classes and for the mean, of test sets drawn from the results of a real detector."""
    for rule in (AREA, ELEVEN):
        real, random = RealResults(rule), np.random.default_rng(arguments.seed)
        true = {name: real.true_score(name) for name in real.classes}
        weights, parts = draw_weights(real.images, REPLICATES), draw_parts(real.images)
        of_classes, of_mean = [], []
        for _ in range(arguments.worlds):
            drawn = real.draw(random)
            scores = np.array([each.score() for each in drawn.values()])
            replicates = np.array([each.replicates(weights) for each in drawn.values()])
            influence = influences(weights, replicates)
            biases = np.array([bias_of(each, each.replicates(parts)) for each in drawn.values()])
            pool = Pool(scores, replicates, influence, biases)
            of_mean.append(_contains(pool.mean(np.arange(len(scores))), float(np.mean(list(true.values())))))
            of_classes += [_contains(pool.mean(np.array([n])), true[name]) for n, name in enumerate(drawn)]
        for name, found in (("1", of_classes), ("20", of_mean)):
            shares = {method: float(np.mean([each[method] for each in found])) for method in METHODS}
            print(
                f"{rule.value} {name}: " + ", ".join(f"{method} {100 * share:.1f}" for method, share in shares.items())
            )
            yield name, shares


def main() -> None:
    """Simulate, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", type=int, default=800, help="drawn for each setting (default: 800)")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of settings")
    parser.add_argument(
        "--unlimited", action="store_true", help="11 points: the true score is that on infinitely many images"
    )
    parser.add_argument("--seed", type=int, default=2007, help="of the random numbers (default: 2007)")
    parser.add_argument("--real", action="store_true", help="draw from the golden results of VOC2007")
    parser.add_argument("--worlds", type=int, default=200, help="test sets drawn from real results")
    arguments = parser.parse_args()
    summary: defaultdict[str, list[float]] = defaultdict(list)
    for _, shares in _real(arguments) if arguments.real else _made_up(arguments):
        for name, share in shares.items():
            summary[name].append(share)
    print()
    for name, all_shares in summary.items():
        print(f"{name}: {100 * np.mean(all_shares):.1f} on average, {100 * min(all_shares):.1f} at least")


if __name__ == "__main__":
    main()
