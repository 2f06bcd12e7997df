"""Tests of vocboard; the tree mirrors that of the code."""
