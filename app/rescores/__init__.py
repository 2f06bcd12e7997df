"""Re-scores: evaluating again with another ground truth or evaluator, a report of what changes, and one switch."""
