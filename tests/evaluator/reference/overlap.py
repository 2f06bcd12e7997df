"""Overlap of two boxes (left, top, right, bottom), the last column and row being part of them."""

Box = tuple[float, float, float, float]


def overlap(a: Box, b: Box) -> float | None:
    """Intersection over union; None if they don't meet."""
    width = min(a[2], b[2]) - max(a[0], b[0]) + 1
    height = min(a[3], b[3]) - max(a[1], b[1]) + 1
    if width <= 0 or height <= 0:
        return None
    area_a = (a[2] - a[0] + 1) * (a[3] - a[1] + 1)
    area_b = (b[2] - b[0] + 1) * (b[3] - b[1] + 1)
    return width * height / (area_a + area_b - width * height)


def matches(a: Box, b: Box) -> bool:
    found = overlap(a, b)
    return found is not None and found >= 0.5
