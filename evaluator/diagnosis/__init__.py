"""Errors in a method's results, and its score without each kind of error.

Diagnoses tell the ground truth of single results: the web process must not import this package.
"""
