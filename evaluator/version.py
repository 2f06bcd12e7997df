"""The evaluator's version, stored beside every score it computes.

Raise it whenever a change may alter a number.
"""

VERSION = "1.0.0"
