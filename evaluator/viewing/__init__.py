"""Writes a static page that shows annotations and results: images, boxes, flags, parts, segmentations and errors."""

from vocboard.evaluator.viewing.page import MARKER, ViewSummary, WrittenView, view, write_view

__all__ = ["MARKER", "ViewSummary", "WrittenView", "view", "write_view"]
