"""A small, working method for each task, as a starting point. Uses only NumPy and Pillow, and no network.

All of them represent an image as a grid of cells with mean colours and gradient directions, and learn linear functions
by ridge regression. They are meant to be read and improved, not to be accurate.
"""

from vocboard.evaluator.examples.run import METHODS, ExampleError, example

__all__ = ["METHODS", "ExampleError", "example"]
