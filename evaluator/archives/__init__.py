"""Reads archives and directories as a stream of regular files with size limits. Never writes to the file system.

Uploads are untrusted: links, devices, sparse files and unsafe names are rejected, and decompressed bytes are counted
while they are read.
"""

from vocboard.evaluator.archives.limits import TREE_LIMITS, UPLOAD_LIMITS, ArchiveError, ArchiveLimits
from vocboard.evaluator.archives.member import Member
from vocboard.evaluator.archives.members import members

__all__ = ["TREE_LIMITS", "UPLOAD_LIMITS", "ArchiveError", "ArchiveLimits", "Member", "members"]
