"""Writes a static page that shows annotations and results: images, boxes, flags, parts, segmentations and errors."""
