"""One folder per task, with its result format, ground truth, scoring, metrics and problems.

A registry for each aspect lists every task: `definitions`, `formats`, `columns` and `arrays`, which the web process may
import; `truths`, `truth_readers` and `scoring`, which it must not. The base classes are in `definition`, `format`,
`content_columns`, `truth`, `truth_reader`, `scorer` and `evaluator.arrays.content`. docs/tasks/README.md says how to
add a task. A metric is a name in `names`, a definition in `definition.py` and a function in `metrics.py` of its task.
"""
