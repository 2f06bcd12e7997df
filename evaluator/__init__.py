"""The science of vocboard: ground truth, result files, validation and scores of the PASCAL VOC challenges.

Stands alone: it knows no web, no database and no settings.
"""

from vocboard.evaluator.version import VERSION

__all__ = ["VERSION"]
