"""A static page to look at annotations and results: images, boxes, flags, parts, segmentations, and every mistake."""

from vocboard.evaluator.viewing.page import MARKER, ViewSummary, view

__all__ = ["MARKER", "ViewSummary", "view"]
