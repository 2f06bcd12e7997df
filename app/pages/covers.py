"""Covers of challenges: a pattern of shapes with two boxes, drawn from the short name, always the same."""

from functools import lru_cache
from hashlib import sha256
from random import Random

from markupsafe import Markup

CELL = 40  # side of a square of the pattern, in the drawing's unit
COLUMNS, ROWS = 24, 3  # cards show the middle half
TONES = 5  # colours of covers, `.cover[data-tone]` in app/static/css/challenges.css
SHADES = "abcd"  # classes of shapes, from the palest to the accent
SHADE_WEIGHTS = (5, 5, 4, 1)
CACHED_COVERS = 256
# Shapes in a square from (0, 0) to (40, 40), relative to their own beginning.
_SHAPES = (
    "m0 0h40a40 40 0 0 1-40 40z",
    "m40 0v40a40 40 0 0 1-40-40z",
    "m40 40h-40a40 40 0 0 1 40-40z",
    "m0 40v-40a40 40 0 0 1 40 40z",
    "m0 20a20 20 0 0 1 40 0z",
    "m0 20a20 20 0 0 0 40 0z",
    "m20 0a20 20 0 0 0 0 40z",
    "m20 0a20 20 0 0 1 0 40z",
    "m20 4a16 16 0 0 1 0 32a16 16 0 0 1 0-32z",
    "m0 0h40l-40 40z",
    "m40 0v40h-40z",
    "m0 0h40v40h-40z",
)


@lru_cache(CACHED_COVERS)
def cover(slug: str) -> Markup:
    """Return the cover of a challenge as SVG without text; style sheets give it the colours of the theme.

    Args:
        slug: the challenge's short name.
    """
    # Not `hash` or `Random(slug)`: the same on every server and with every version of Python.
    random = Random(int.from_bytes(sha256(slug.encode()).digest()))  # noqa: S311  # a drawing
    tone = int(random.random() * TONES)
    paths = dict.fromkeys(SHADES, "")
    for row in range(ROWS):
        for column in range(COLUMNS):
            shade = random.choices(SHADES, SHADE_WEIGHTS)[0]
            shape = _SHAPES[int(random.random() * len(_SHAPES))]
            paths[shade] += f"M{column * CELL} {row * CELL}{shape}"
    left = COLUMNS // 4 + 1 + int(random.random() * (COLUMNS // 2 - 6))
    first = (left * CELL, CELL // 2, 3 * CELL, 3 * CELL // 2)
    second = ((left + 2) * CELL, CELL, 3 * CELL, 3 * CELL // 2)
    drawn = [f'<path class="{shade}" d="{path}"/>' for shade, path in paths.items() if path]
    drawn += ['<rect class="box" x="{}" y="{}" width="{}" height="{}"/>'.format(*box) for box in (first, second)]
    size = f"0 0 {COLUMNS * CELL} {ROWS * CELL}"
    return Markup(  # noqa: S704  # numbers and constants
        f'<svg class="cover" data-tone="{tone}" viewBox="{size}" preserveAspectRatio="xMidYMid slice" '
        f'aria-hidden="true">{"".join(drawn)}</svg>'
    )
