"""Registries of tasks, one for each aspect; every registry lists every task.

The web process may import `definitions`, `formats`, `columns` and `arrays`. It must not import `truths`,
`truth_readers` and `scorers`, which lead to the ground truth; `tests/test_architecture.py` checks that.
"""
