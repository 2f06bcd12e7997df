"""How certain scores are: the bootstrap over test images.

`collect` makes the evidence of results (`evaluator.evidence`), `evidence_file` stores it, and `bootstrap`, `intervals`
and `comparison` draw conclusions from it. docs/statistics.md explains the methods.

Evidence is ground truth: the web process must not import this package.
"""
