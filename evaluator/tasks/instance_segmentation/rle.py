"""Compressed run-length encoding of regions, as COCO writes it.

Pixels are in column order. Runs alternate between outside and inside of the region, starting outside. From the fourth
run on, its length is encoded as the difference from the second-last run. Each number is written in groups of five bits,
lowest first, as characters from `0` on; the sixth bit marks continuation, and the fifth bit of the last group is the
sign. Source: COCO API, common/maskApi.c, rleFrString and rleToString.
"""

import numpy as np
from numpy.typing import NDArray

_FIRST_CHARACTER = ord("0")
_CHARACTERS = 64
_MORE, _SIGN, _BITS, _PAYLOAD = 0x20, 0x10, 5, 0x1F
_MAX_DIGITS = 7  # 35 bits: more than any image has pixels


def decode(text: str) -> NDArray[np.int64]:
    """Return (n,) lengths of runs, outside and inside of the region in turn.

    Raises:
        ValueError: the text is not a valid RLE; the message says why.

    >>> decode("52203").tolist()
    [5, 2, 2, 2, 5]
    """
    digits = np.frombuffer(text.encode("utf-8"), dtype=np.uint8).astype(np.int64) - _FIRST_CHARACTER
    if not len(digits):
        raise ValueError("it is empty")
    if digits.min() < 0 or digits.max() >= _CHARACTERS:
        raise ValueError("it has characters other than those from 0 to o")
    ends = np.flatnonzero((digits & _MORE) == 0)
    if not len(ends) or ends[-1] != len(digits) - 1:
        raise ValueError("it ends within a number")
    count = np.diff(ends, prepend=-1)
    if count.max() > _MAX_DIGITS:
        raise ValueError("it has a number that is too large")
    starts = ends - count + 1
    place = np.arange(len(digits)) - np.repeat(starts, count)
    numbers = np.add.reduceat((digits & _PAYLOAD) << (_BITS * place), starts)
    numbers -= np.where(digits[ends] & _SIGN, np.int64(1) << (_BITS * count), 0)
    numbers[1::2] = np.cumsum(numbers[1::2])
    numbers[2::2] = np.cumsum(numbers[2::2])
    if numbers.min() < 0:
        raise ValueError("it has a run of negative length")
    return numbers


def encode(lengths: NDArray[np.int64]) -> str:
    """Return the text of (n,) lengths of runs, outside and inside of the region in turn: what `decode` reads.

    >>> encode(np.array([5, 2, 2, 2, 5]))
    '52203'
    """
    numbers = np.array(lengths, dtype=np.int64)
    numbers[3:] -= lengths[1:-2]
    characters = np.zeros((len(numbers), _MAX_DIGITS), dtype=np.uint8)
    count = np.zeros(len(numbers), dtype=np.int64)
    goes_on = np.ones(len(numbers), dtype=np.bool_)
    for place in range(_MAX_DIGITS):
        digit = numbers & _PAYLOAD
        numbers >>= _BITS
        more = np.where(digit & _SIGN, numbers != -1, numbers != 0)
        characters[:, place] = digit + _FIRST_CHARACTER + _MORE * more
        count[goes_on] = place + 1
        goes_on &= more
    return characters[np.arange(_MAX_DIGITS) < count[:, None]].tobytes().decode("ascii")


def lengths_of(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the lengths of the runs of a (height, width) mask.

    >>> lengths_of(np.array([[False, True], [False, True]])).tolist()
    [2, 2]
    """
    pixels = mask.T.ravel()
    changes = np.flatnonzero(np.diff(pixels, prepend=False))
    return np.diff(np.concatenate([[0], changes, [len(pixels)]]))


def lengths_between(start: NDArray[np.int64], stop: NDArray[np.int64], pixels: int) -> NDArray[np.int64]:
    """Return the lengths of runs, outside and inside in turn, of (n,) runs inside of a region, up to `stop`."""
    edges = np.stack([start, stop], axis=1).ravel()
    return np.diff(np.concatenate([[0], edges, [pixels]]))


def mask_of(lengths: NDArray[np.int64], height: int, width: int) -> NDArray[np.bool_]:
    """Return the (height, width) mask of lengths of runs that add up to its pixels.

    >>> mask_of(np.array([2, 2]), 2, 2).tolist()
    [[False, True], [False, True]]
    """
    inside = np.arange(len(lengths)) % 2 == 1
    return np.repeat(inside, lengths).reshape(width, height).T
