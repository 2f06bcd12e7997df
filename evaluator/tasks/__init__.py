"""One folder per task, with its result format, ground truth, scoring, metrics and problems.

`parts` finds the modules of all tasks by name. The base classes are in `definition`, `format`, `content_columns`,
`truth`, `truth_reader`, `scorer`, `ranked_scorer` and `evaluator.arrays.content`. docs/tasks/README.md says how to add
a task. A metric is a name in `names`, a definition in `definition.py` and a function in `metrics.py` of its task.
"""
