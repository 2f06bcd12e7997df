"""A small, genuine method for each task, as a starting point for one's own: NumPy and Pillow, no network, no download.

All of them see an image as a grid of cells with mean colours and gradient directions, and learn linear functions of it
by ridge regression. They are meant to be read and improved, not to be good.
"""

from vocboard.evaluator.examples.run import METHODS, ExampleError, example

__all__ = ["METHODS", "ExampleError", "example"]
