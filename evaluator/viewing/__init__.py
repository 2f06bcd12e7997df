"""Writes a static page that shows annotations and results: images, boxes, flags, parts, segmentations and errors."""

from vocboard.evaluator.viewing.page import ViewSummary, WrittenView, view, write_view

__all__ = ["ViewSummary", "WrittenView", "view", "write_view"]
