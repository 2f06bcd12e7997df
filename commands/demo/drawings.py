"""Pictures for pages of the demo's challenges: ellipses at random, which have nothing to do with its test images."""

import io
from random import Random

from PIL import Image, ImageDraw

SKY, SEA = (214, 232, 240), (24, 84, 112)
COLOURS = ((240, 140, 58), (250, 214, 120), (140, 196, 208), (20, 58, 84))
ELLIPSES = 60


def picture(seed: int, width: int, height: int) -> bytes:
    """Return a PNG picture of so many pixels, always the same."""
    random = Random(seed)  # noqa: S311  # a drawing
    shade = Image.linear_gradient("L").resize((width, height))
    drawn = Image.composite(Image.new("RGB", shade.size, SEA), Image.new("RGB", shade.size, SKY), shade)
    draw = ImageDraw.Draw(drawn, "RGBA")
    for _ in range(ELLIPSES):
        x, y, size = random.random() * width, (0.3 + 0.7 * random.random()) * height, height * random.uniform(0.05, 0.3)
        draw.ellipse((x - size, y - size / 3, x + size, y + size / 3), (*random.choice(COLOURS), 180))
    target = io.BytesIO()
    drawn.save(target, "PNG")
    return target.getvalue()
