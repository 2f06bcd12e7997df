"""The replicates of the bootstrap: how often each draws each test image."""

import numpy as np
from numpy.typing import NDArray

REPLICATES = 1_000
SEED = 2007  # the same for all methods, so that their scores on a replicate can be compared

Weights = NDArray[np.uint8]


def draw_weights(images: int, replicates: int = REPLICATES, seed: int = SEED) -> Weights:
    """Draw images with replacement, as many as there are, for each replicate.

    The result depends only on the arguments, on every machine and with every version of NumPy, which guarantees the
    raw output of its generators, but not what it derives from it. The first replicates are the same whatever their
    number.

    Each image has the same chance, up to a relative error of `images` / 2^32.

    Args:
        images: number of test images.
        replicates: number of replicates.
        seed: of the random numbers.

    Returns:
        (images, replicates) how often each replicate draws each image; each column adds up to the number of images. An
        image is never drawn 256 times: the chance is less than 10^-500.
    """
    generator = np.random.PCG64(seed)
    weights = np.empty((replicates, images), dtype=np.uint8)
    for replicate in weights:
        drawn = (generator.random_raw(images) >> np.uint64(32)) * np.uint64(images) >> np.uint64(32)
        replicate[:] = np.bincount(drawn.astype(np.int64), minlength=images)
    return np.ascontiguousarray(weights.T)
