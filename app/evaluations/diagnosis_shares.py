"""The public form of a diagnosis: coarse shares with noise, of which each image counts once.

Somebody could upload known errors and one guess, such that its kind decides to which side a share is rounded. So
noise is added before rounding. What single images can change is bounded by `evaluator.diagnosis.by_image`, which makes
this the Laplace mechanism. Source: C. Dwork and A. Roth, "The Algorithmic Foundations of Differential Privacy", 2014,
section 3.3. See docs/detail-levels.md for what the shares still reveal.

The noise follows from a key that only workers have, and from what the sums follow from: so a re-score does not give
other noise, and the same noise is never added to two sums, whose difference would then be exact. The hash of the ground
truth alone would not do as a key: somebody who knows all but one box could try what it may be, and see which hash gives
the noise.
"""

import hmac
import math
from collections.abc import Mapping

from vocboard.app.evaluations.eleven_points import DECIMALS

STEP = 0.05  # between two shares
MIN_IMAGES = 200  # fewer show nothing: the noise would be too large
NOISE = 4.0  # images; the standard deviation is √2 times as large

Shares = Mapping[str, Mapping[str, float] | None]  # by kind, of what `evaluator.diagnosis.by_image` names


def diagnosis_shares(by_image: Mapping[str, Mapping[str, float]], *, key: bytes, release: str) -> Shares:
    """Return the shares of each kind.

    Args:
        by_image: sums over images by kind.
        key: of the noise.
        release: names the ground truth, the rules, the upload and the competition. Another one has other noise.

    Returns:
        Fractions by kind, which need not sum to 1; None instead of them if there are too few images.
    """
    return {of: _shares(sums, key, f"{release} {of}") for of, sums in by_image.items()}


def _shares(sums: Mapping[str, float], key: bytes, release: str) -> Mapping[str, float] | None:
    noisy = {kind: max(0.0, images + noise(key, f"{release} {kind}")) for kind, images in sums.items()}
    total = sum(noisy.values())
    if total < MIN_IMAGES:
        return None
    return {kind: round(round(images / total / STEP) * STEP, DECIMALS) for kind, images in noisy.items()}


def noise(key: bytes, release: str) -> float:
    """Return a number of images from the Laplace distribution with the scale `NOISE`, the same for the same text."""
    digest = hmac.digest(key, release.encode(), "sha256")
    uniform = (int.from_bytes(digest[:8]) // 2048 + 0.5) / 2**53  # strictly between 0 and 1
    return NOISE * (math.log(2 * uniform) if uniform < 0.5 else -math.log(2 - 2 * uniform))
