"""Decodes uploaded pictures and re-encodes them, so that nothing of the upload but its pixels is kept.

It runs in a process that reads one upload (`reading_program`): decoders are attacked with damaged pictures. What
follows a picture in its file, text and places in it (EXIF), and further frames are lost.
"""

import io
from collections.abc import Callable, Mapping
from typing import BinaryIO

from vocboard.app.intake.report import Report
from vocboard.evaluator.problems import Problem, Severity

REDRAW = f"{__name__}:redraw"  # by name: only the child imports Pillow
MAX_PIXELS = 40_000_000
NOT_A_PICTURE, TOO_MANY_PIXELS, TOO_MUCH_WORK = "not_a_picture", "too_many_pixels", "too_much_work"
REFUSALS: Mapping[str, str] = {  # why a picture is refused, and what to do
    NOT_A_PICTURE: "This is not a PNG, JPEG or WebP picture, or it is damaged. Export the picture as one of these. SVG "
    "is not accepted, because it can contain programs.",
    TOO_MANY_PIXELS: f"The picture has more than {MAX_PIXELS // 1_000_000} million pixels. Make it smaller.",
    TOO_MUCH_WORK: "Reading the picture takes too much memory or time. Make it smaller, or export it again.",
}
_QUALITY = 80


def redraw(upload: BinaryIO, width: int, height: int, send_columns: Callable[[bytes], object]) -> Report:
    """Send a picture as WebP, made smaller to fit, without its metadata.

    Args:
        upload: open at its start.
        width, height: the most, in pixels.
        send_columns: called with the new file.

    Returns:
        A report that has nothing but the problem that the picture is refused for: a code of `REFUSALS`.

    Raises:
        MemoryError: decoding needs more memory.
    """
    from PIL import Image, ImageOps  # noqa: PLC0415  # the parent process imports this module, too

    Image.MAX_IMAGE_PIXELS = None  # checked below, before anything is decoded
    try:
        with Image.open(upload, formats=("PNG", "JPEG", "WEBP")) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                return _refused(TOO_MANY_PIXELS)
            picture.draft(None, (max(width, height),) * 2)  # JPEG decodes smaller at once
            drawn = ImageOps.exif_transpose(picture).convert("RGBA" if picture.has_transparency_data else "RGB")
            drawn.thumbnail((width, height), reducing_gap=3.0)
            target = io.BytesIO()
            drawn.save(target, "WEBP", quality=_QUALITY, exif=b"", icc_profile=None, xmp=b"")
    except MemoryError:
        raise
    except Exception:  # decoders raise errors of many kinds
        return _refused(NOT_A_PICTURE)
    send_columns(target.getvalue())
    return Report(())


def _refused(code: str) -> Report:
    return Report((Problem(code, Severity.ERROR, REFUSALS[code], None, None),))
