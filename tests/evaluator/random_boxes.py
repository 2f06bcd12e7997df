"""Boxes on a coarse grid, so that ties, exact halves and exact repetitions happen all the time."""

import random

Box = tuple[float, float, float, float]

GRID = 4


def random_box(chance: random.Random) -> Box:
    left, top = chance.randrange(3) * GRID + 1, chance.randrange(3) * GRID + 1
    return (left, top, left + chance.choice([1, 2, 3]) * GRID - 1, top + chance.choice([1, 2]) * GRID - 1)


def near(box: Box, chance: random.Random) -> Box:
    """The box itself, half of it, a part of it, or something upside down, outside or fractional."""
    left, top, right, bottom = box
    return chance.choice(
        [
            box,
            (left, top, (left + right - 1) / 2, bottom),  # exactly one half
            (left, top, (left + right - 1) / 2 - 0.25, bottom),  # just less
            (left, top, right, bottom + (bottom - top + 1)),  # exactly one half
            (left + 0.5, top, right + 0.5, bottom),
            (right, bottom, left, top),  # upside down
            (left - 100, top, right - 100, bottom),
            random_box(chance),
        ]
    )
