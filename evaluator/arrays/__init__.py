"""Results in memory: NumPy arrays, or objects that can be converted, instead of result files.

They are converted to the same columns as result files, so equal results have equal scores. The format of each task is
in its folder (`tasks/<task>/arrays.py`).
"""
