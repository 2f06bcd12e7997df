"""Results in memory: NumPy arrays, and whatever turns into them, in place of result files.

They become the same columns as result files do, so that equal results have equal scores. Each task's folder says what
its arrays are (`tasks/<task>/arrays.py`).
"""
