"""Re-scores: evaluate again with another ground truth or evaluator, report what changes, and switch to the results."""
