"""Pictures of test images of the demo."""

import io
from random import Random

from PIL import Image, ImageDraw

from vocboard.commands.demo.scenes import Scene

SKY, SEA = (214, 232, 240), (24, 84, 112)
COLOURS = ((240, 140, 58), (250, 214, 120), (140, 196, 208), (20, 58, 84))


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
