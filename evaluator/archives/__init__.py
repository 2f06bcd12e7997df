"""Archives and directories as a stream of regular, bounded members; nothing is ever written to a path.

An upload is hostile until proven otherwise: links, devices, sparse files and names that lead elsewhere are refused, and
what decompression yields is counted while it is read.
"""

from vocboard.evaluator.archives.limits import TREE_LIMITS, UPLOAD_LIMITS, ArchiveError, ArchiveLimits
from vocboard.evaluator.archives.member import Member
from vocboard.evaluator.archives.members import members

__all__ = ["TREE_LIMITS", "UPLOAD_LIMITS", "ArchiveError", "ArchiveLimits", "Member", "members"]
