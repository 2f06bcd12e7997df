"""What the example methods share. Each task has one, `example.py` of its folder: small and working, a starting point.

They use only NumPy and Pillow, and no network. All of them represent an image as a grid of cells with mean colours and
gradient directions, and learn linear functions by ridge regression. They are meant to be read and improved, not to be
accurate.
"""
