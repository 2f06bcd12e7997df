"""What an evaluation leaves behind, and the scores that it allows for any selection of the test images.

`evidence` has what is needed to compute a score again, `weights` draws selections of images, and `resampled` is what a
kind of score can compute for all of them together (`average_precision`, `roc`, `pixels`, `image_shares`, `best_f1` and
more). `evaluator.statistics` draws conclusions from it.

Evidence is ground truth: the web process must not import this package.
"""
