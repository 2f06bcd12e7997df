"""What is wrong with a method's results, and what its score would be without each kind of error.

Diagnoses tell the ground truth of single results: the web process must not import this package.
"""
