"""The evaluator of vocboard: ground truth, result files, validation and scores of the PASCAL VOC challenges.

It does not depend on the web application, the database or settings.
"""

from vocboard.evaluator.version import VERSION

__all__ = ["VERSION"]
