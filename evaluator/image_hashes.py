"""Image hashes, with which organisers find test images among training images.

There are two hashes per image: the SHA-256 of the file, and a difference hash of the picture, which hardly changes when
the image is scaled or recompressed. Neither reveals the image.

The difference hash is implemented here, because libraries for it require SciPy and more. The image is converted to grey
and scaled to 9 by 8 pixels; each of the 64 bits says whether a pixel's right neighbour is brighter.
"""

import hashlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # workers read lists of hashes, and must not import a parser of images
    from PIL import Image

WIDTH, HEIGHT = 9, 8
NEAR_BITS = 6  # maximum difference (of 64 bits) between equal pictures
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"})
_BLOCK = 256  # listed images compared at a time


class HashListError(ValueError):
    """The text is not a list of image hashes; the message names the line."""


@dataclass(frozen=True, slots=True)
class ImageHash:
    """The hashes of one image.

    Attributes:
        sha256: SHA-256 of the file, 64 hexadecimal digits.
        picture: difference hash, 64 bits.
    """

    sha256: str
    picture: int

    def __str__(self) -> str:
        return f"{self.sha256} {self.picture:016x}"


@dataclass(frozen=True, slots=True)
class Overlap:
    """A listed image that is, or looks like, a test image.

    Attributes:
        line: 1-based line of the list.
        image: file of the test image.
        bits: number of bits that differ between the pictures; None if the files are identical.
    """

    line: int
    image: Path
    bits: int | None


def hash_image(path: Path) -> ImageHash:
    """Return the hashes of an image file.

    Raises:
        OSError: it cannot be read, or is not an image.
        ValueError: it is too large, or damaged.
    """
    from PIL import Image  # noqa: PLC0415

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # for unusual but harmless files
        try:
            with Image.open(path) as image:
                return ImageHash(digest, difference_hash(image))
        except (SyntaxError, Image.DecompressionBombError) as error:  # Pillow raises the former for damaged PNG
            raise ValueError(str(error)) from error


def difference_hash(image: "Image.Image") -> int:
    """Return 64 bits that say where the scaled image gets brighter to the right, row by row.

    Source: N. Krawetz, "Kind of Like That", 2013.

    >>> from PIL import Image
    >>> difference_hash(Image.linear_gradient("L").rotate(90)) == 2**64 - 1
    True
    """
    from PIL import Image  # noqa: PLC0415

    grey = image.convert("L").resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    pixels = np.asarray(grey, dtype=np.int16)
    bits = (pixels[:, 1:] > pixels[:, :-1]).ravel()
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def images_below(directory: Path) -> Iterator[Path]:
    """Yield the image files below a directory, ordered by name."""
    yield from sorted(path for path in directory.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())


def parse_list(text: str) -> tuple[ImageHash, ...]:
    """Parse the output of `vocboard hash-images`: one image per line, SHA-256 and difference hash.

    Raises:
        HashListError: a line has another format.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        digest, _, picture = line.strip().lower().partition(" ")
        if not (_is_hexadecimal(digest, 64) and _is_hexadecimal(picture, 16)):
            raise HashListError(f"Line {number} is not the SHA-256 and the picture hash of an image.")
        found.append(ImageHash(digest, int(picture, 16)))
    return tuple(found)


def overlaps(
    listed: Sequence[ImageHash], test: Iterable[tuple[Path, ImageHash]], *, near_bits: int = NEAR_BITS
) -> Iterator[Overlap]:
    """Find listed images that are, or look like, test images.

    Args:
        listed: hashes of training images.
        test: test images and their hashes.
        near_bits: maximum number of differing bits.

    Yields:
        Overlaps in the order of the list, each with the first nearest test image.
    """
    images = list(test)
    if not images:
        return
    exact = {hashed.sha256: path for path, hashed in reversed(images)}
    pictures = _pictures(hashed for _, hashed in images)
    for start in range(0, len(listed), _BLOCK):
        block = listed[start : start + _BLOCK]
        differing = np.bitwise_count(_pictures(block)[:, None] ^ pictures[None, :])
        nearest = differing.argmin(axis=1)
        for offset, hashed in enumerate(block):
            bits = int(differing[offset, nearest[offset]])
            if same := exact.get(hashed.sha256):
                yield Overlap(start + offset + 1, same, None)
            elif bits <= near_bits:
                yield Overlap(start + offset + 1, images[nearest[offset]][0], bits)


def _pictures(hashes: Iterable[ImageHash]) -> NDArray[np.uint64]:
    return np.fromiter((hashed.picture for hashed in hashes), dtype=np.uint64)


def _is_hexadecimal(text: str, digits: int) -> bool:
    return len(text) == digits and set(text) <= set("0123456789abcdef")
