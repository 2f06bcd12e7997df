"""Writes a static page that shows annotations and results: images, boxes, flags, parts, segmentations and errors."""

from vocboard.evaluator.viewing.page import MARKER, ViewSummary, view

__all__ = ["MARKER", "ViewSummary", "view"]
