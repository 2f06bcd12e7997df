"""`python -m benchmarks.families`: how often equally good methods are called different, in each family of comparisons.

Methods and classes are made up (binormal confidences, 60 positives in 1,000 images). Printed are the shares of the test
sets in which some pair is called different: in one class, in some class, and in some class if p-values are corrected
for all classes.
"""

import argparse
import time

import numpy as np

from tests.evaluator.statistics.populations import Binormal
from vocboard.evaluator.editions import Interpolation
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.statistics.compared import corrected_for_classes
from vocboard.evaluator.statistics.comparison import Comparison, compare
from vocboard.evaluator.statistics.influence import influences
from vocboard.evaluator.statistics.intervals import LEVEL, ReplicatedScore

IMAGES, REPLICATES = 1_000, 1_000
POPULATION = Binormal(0.06, 2.0, 1.0, Interpolation.AREA)


def draw(methods: int, classes: int, random: np.random.Generator) -> dict[str, Comparison]:
    """Return the comparisons of equally good methods, by class, on one test set."""
    weights, found = draw_weights(IMAGES, REPLICATES), {}
    for number in range(classes):
        drawn = POPULATION.draw(IMAGES, methods, random)
        replicates = np.array([each.replicates(weights) for each in drawn])
        moved = influences(weights, replicates)
        found[f"class {number}"] = compare(
            {
                f"method {place}": ReplicatedScore(each.score(), replicates[place], moved[place])
                for place, each in enumerate(drawn)
            }
        )
    return found


def main() -> None:
    """Simulate one family, and print the shares every ten test sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", type=int)
    parser.add_argument("classes", type=int)
    parser.add_argument("--worlds", type=int, default=500, help="test sets (default: 500)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    random = np.random.default_rng([2007, arguments.methods, arguments.classes, arguments.seed])
    one = some = joint = 0
    began = time.monotonic()
    for world in range(1, arguments.worlds + 1):
        found = draw(arguments.methods, arguments.classes, random)
        different = [any(pair.is_significant for pair in each.differences.values()) for each in found.values()]
        corrected = [
            pair.p_value if pair.p_value_all_classes is None else pair.p_value_all_classes
            for each in corrected_for_classes(found).values()
            if each is not None
            for pair in each.differences.values()
        ]
        one, some, joint = one + sum(different), some + any(different), joint + (min(corrected) <= 1 - LEVEL)
        if world % 10 == 0 or world == arguments.worlds:
            shares = (one / arguments.classes / world, some / world, joint / world)
            print(
                f"{arguments.methods} x {arguments.classes}, {world} test sets, {time.monotonic() - began:.0f} s: "
                f"in one class {shares[0]:.1%}, in some class {shares[1]:.1%}, corrected for classes {shares[2]:.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
