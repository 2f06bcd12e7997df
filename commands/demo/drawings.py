"""Pictures of the demo: covers, which are ellipses at random and show nothing of its test images, and test images."""

import io
from random import Random

from PIL import Image, ImageDraw

from vocboard.commands.demo.scenes import Scene

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


def photograph(scene: Scene) -> bytes:
    """Return a PNG picture of a test image: an ellipse for each object, whose colours say nothing of its class."""
    random = Random(scene.image)  # noqa: S311  # a drawing
    drawn = Image.new("RGB", (scene.width, scene.height), SKY)
    draw = ImageDraw.Draw(drawn)
    draw.rectangle((0, scene.height * 0.6, scene.width, scene.height), fill=SEA)
    for thing in scene.objects:
        left, top, right, bottom = thing.box
        draw.ellipse((left - 1, top - 1, right - 1, bottom - 1), fill=random.choice(COLOURS), outline=SEA, width=2)
    target = io.BytesIO()
    drawn.save(target, "PNG")
    return target.getvalue()
