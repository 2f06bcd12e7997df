"""How certain scores are: what an evaluation leaves behind, and the bootstrap over test images.

`evidence` has what is needed to compute a score again for any selection of the test images, and `evidence_file` stores
it. `weights` draws the selections, `resampled` is what a kind of score can compute for all of them
together (`average_precision`, `roc`, `pixels`, `image_shares`, `best_f1` and more), and `bootstrap`, `intervals` and
`comparison` draw conclusions. docs/statistics.md explains the methods.

Evidence is ground truth: the web process must not import this package.
"""
