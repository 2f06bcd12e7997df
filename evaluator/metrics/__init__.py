"""Arithmetic that metrics share, from arrays: no files, no text. A metric is not added here, but in its task's folder.

`evaluator/tasks/<task>/definition.py` says what a metric is to people, `metrics.py` beside it how it is computed;
CONTRIBUTING.md, *a metric*, has the steps. Here are the definitions of metrics that several tasks have
(`shared_metrics`), and what several tasks compute with. `precision_recall` and `roc` take the rules of an edition that
change a number (`Interpolation`, `WithoutPositives`, `RocRule`). What only one task needs is in its folder.
"""
