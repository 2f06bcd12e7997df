"""Features of images: a grid of cells with mean colours and the strength of gradients in each direction.

The gradients are those of histograms of oriented gradients (N. Dalal and B. Triggs, CVPR 2005), without blocks.
"""

import io
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

CELLS = 24  # cells along each side
PIXELS = 4  # along each side of a cell, of the scaled image
DIRECTIONS = 8
CHANNELS = 3 + DIRECTIONS
PYRAMID = (1, 2, 4)  # numbers of parts along each side of an image or box
SIDE = CELLS * PIXELS
GREY = np.full(3, 1 / 3, dtype=np.float32)  # weights of red, green and blue
_FIRST_DIRECTIONS = np.arange(SIDE * SIDE) * CHANNELS + 3  # of each pixel, among all channels of all pixels

Features = NDArray[np.float32]


@lru_cache(maxsize=1)  # crops of one image are made one after the other
def _decoded(content: bytes) -> Image.Image:
    with Image.open(io.BytesIO(content)) as image:
        return image.convert("RGB")


@dataclass(frozen=True, eq=False, slots=True)
class CellGrid:
    """The cells of one image.

    Attributes:
        size: width and height in pixels.
        cells: (CELLS, CELLS, CHANNELS) float32, mean over each cell: red, green, blue (0 to 1), then the directions.
        sums: (CELLS + 1, CELLS + 1, CHANNELS) float32, sums over all cells above and to the left.
    """

    size: tuple[int, int]
    cells: Features
    sums: Features

    @classmethod
    def of(cls, content: bytes) -> "CellGrid":
        """Decode an image file.

        Raises:
            OSError: it is not an image, or damaged.
        """
        with Image.open(io.BytesIO(content)) as image:
            size = image.size
            image.draft("RGB", (SIDE, SIDE))  # lets the JPEG decoder decode at a lower resolution, which is faster
            small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        return cls.of_picture(small, size)

    @classmethod
    def of_part(cls, content: bytes, frame: NDArray[np.float64]) -> "CellGrid":
        """Decode an image file, and crop it.

        Args:
            content: the file.
            frame: (4,) left, top, right and bottom edges in pixels from 0; may extend beyond the image.

        Raises:
            OSError: it is not an image, or damaged.
        """
        left, top, right, bottom = frame.tolist()
        part = _decoded(content).transform(
            (SIDE, SIDE), Image.Transform.EXTENT, (left, top, right, bottom), Image.Resampling.BILINEAR
        )
        return cls.of_picture(part, (max(1, round(right - left)), max(1, round(bottom - top))))

    @classmethod
    def of_picture(cls, small: Image.Image, size: tuple[int, int]) -> "CellGrid":
        """Compute the cells of an image scaled to SIDE x SIDE pixels; `size` is its original width and height."""
        pixels = np.asarray(small, dtype=np.float32) / 255
        grey = pixels @ GREY
        down, right = np.gradient(grey)
        angle = np.arctan2(down, right)
        np.add(angle, np.float32(np.pi), out=angle, where=angle < 0)  # a remainder takes four times as long
        direction = (angle * (DIRECTIONS / np.pi)).astype(np.intp)
        direction[direction == DIRECTIONS] = 0
        channels = np.zeros((SIDE * SIDE, CHANNELS), dtype=np.float32)
        channels[:, :3] = pixels.reshape(-1, 3)
        channels.reshape(-1)[_FIRST_DIRECTIONS + direction.ravel()] = np.hypot(down, right).ravel()
        rows = channels.reshape(CELLS, PIXELS, -1).sum(axis=1)  # one axis at a time is faster than both
        cells = rows.reshape(CELLS, CELLS, PIXELS, CHANNELS).sum(axis=2) / PIXELS**2
        sums = np.zeros((CELLS + 1, CELLS + 1, CHANNELS), dtype=np.float32)
        sums[1:, 1:] = cells.cumsum(axis=0).cumsum(axis=1)
        return cls(size, cells, sums)

    def pooled(self, boxes: NDArray[np.float64], parts: int) -> Features:
        """Return (n, parts * parts * CHANNELS) means over the parts of each box; see `Pool`."""
        return Pool.of(boxes, parts).of_grid(self)

    def described(self, boxes: NDArray[np.float64]) -> Features:
        """Return (n, d) features of boxes: means over a pyramid of parts, and the box itself."""
        return Windows.of(boxes).of_grid(self)

    def fractions(self, boxes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n, 4) boxes in VOC's coordinates as fractions of the image."""
        width, height = self.size
        shifted = boxes - np.array([1, 1, 0, 0])
        return np.asarray(shifted / np.array([width, height, width, height]))

    def pixels(self, boxes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n, 4) boxes in fractions of the image in VOC's coordinates."""
        width, height = self.size
        return np.asarray(boxes * np.array([width, height, width, height]) + np.array([1, 1, 0, 0]))


@dataclass(frozen=True, eq=False, slots=True)
class Pool:
    """Places in `CellGrid.sums` of the parts of boxes, computed once for boxes that many images share."""

    corners: tuple[NDArray[np.intp], ...]  # top, bottom, left, right of every part, (n, parts, 1) or (n, 1, parts)

    @classmethod
    def of(cls, boxes: NDArray[np.float64], parts: int) -> "Pool":
        """Divide each box into equal parts.

        Args:
            boxes: (n, 4) left, top, right, bottom as fractions of the image, clipped to it.
            parts: number of parts along each side of a box.
        """
        steps = np.linspace(0, 1, parts + 1)
        left, top, right, bottom = np.clip(boxes, 0, 1).T[..., None]
        x = np.rint((left + (right - left) * steps) * CELLS).astype(np.intp)
        y = np.rint((top + (bottom - top) * steps) * CELLS).astype(np.intp)
        x0, y0 = np.minimum(x[:, :-1], CELLS - 1), np.minimum(y[:, :-1], CELLS - 1)
        x1, y1 = np.maximum(x[:, 1:], x0 + 1), np.maximum(y[:, 1:], y0 + 1)
        return cls((y0[:, :, None], y1[:, :, None], x0[:, None, :], x1[:, None, :]))

    def of_grid(self, grid: CellGrid) -> Features:
        """Return (n, parts * parts * CHANNELS) means over the parts."""
        y0, y1, x0, x1 = self.corners
        sums = grid.sums
        total = sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]
        mean = total / ((y1 - y0) * (x1 - x0))[..., None]
        return np.asarray(mean.reshape(len(y0), -1), dtype=np.float32)


@dataclass(frozen=True, eq=False, slots=True)
class Windows:
    """Boxes that many images share, with what is needed to compute their features."""

    boxes: NDArray[np.float64]
    pools: tuple[Pool, ...]

    @classmethod
    def of(cls, boxes: NDArray[np.float64], pyramid: tuple[int, ...] = PYRAMID) -> "Windows":
        """Take (n, 4) boxes as fractions of the image, and numbers of parts along each side to divide them into."""
        return cls(boxes, tuple(Pool.of(boxes, parts) for parts in pyramid))

    def of_grid(self, grid: CellGrid) -> Features:
        """Return (n, d) features of the boxes in an image."""
        pooled = [pool.of_grid(grid) for pool in self.pools]
        return np.concatenate([*pooled, np.asarray(self.boxes, dtype=np.float32)], axis=1)
