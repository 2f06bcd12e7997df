"""Keypoints of people: a task for vocboard, scored like COCO."""
