"""Metrics that several tasks share, computed from arrays: no files, no text.

`definitions` has their titles. `precision_recall` and `roc` take the rules of an edition that change a number
(`Interpolation`, `WithoutPositives`, `RocRule`). What only one task needs is in its folder.
"""
