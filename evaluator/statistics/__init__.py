"""How certain scores are: what an evaluation leaves behind, and the bootstrap over test images.

`evidence` has what is needed to compute a score again for any selection of the test images, and `evidence_file` stores
it. `weights` draws the selections, `average_precision`, `roc` and `pixels` score all of them together, and `bootstrap`,
`intervals` and `comparison` draw conclusions. docs/statistics.md explains the methods.

Evidence is ground truth: the web process must not import this package.
"""
