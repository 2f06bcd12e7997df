"""The archive itself, and what it is packed from."""

from evaluator.catalogue.registry import error

NOT_AN_ARCHIVE = error(
    "not_an_archive",
    "The upload is not an archive",
    "This is not a tar or zip archive, whatever its name says: it {looks}.",
    "Pack the result files with, for example, `tar czf results.tar.gz results/`; .tar, .tar.gz, .tar.xz, .tar.bz2 and "
    ".zip are read.",
)
DAMAGED_ARCHIVE = error(
    "damaged_archive",
    "The archive is damaged or incomplete",
    "The archive cannot be read {where}: {reason}.",
    "It may have been cut short on its way; pack and upload it again.",
)
ENCRYPTED_MEMBER = error(
    "encrypted_member",
    "A file in the archive is encrypted",
    "This file is encrypted.",
    "Pack it without a password.",
)
UNSUPPORTED_COMPRESSION = error(
    "unsupported_compression",
    "A zip compression that is not read",
    "This file is packed by zip's method {method}; stored and deflated files are read.",
    "Pack it again with an ordinary zip program, or as .tar.gz.",
)
TOO_MANY_MEMBERS = error(
    "too_many_members",
    "Too many files in the archive",
    "The archive holds more than {limit:,} files and directories.",
    "Leave out everything but the result files.",
)
MEMBER_TOO_LARGE = error(
    "member_too_large",
    "A file in the archive is too large",
    "This file unpacks to more than {limit}.",
    "Lower the number of results in it, for instance by a threshold on the confidence.",
)
ARCHIVE_TOO_LARGE = error(
    "archive_too_large",
    "The archive's content is too large",
    "The archive unpacks to more than {limit}.",
    "Leave out everything but the result files, or enter the competitions one by one.",
)
COMPRESSION_RATIO = error(
    "compression_ratio",
    "Content that is compressed beyond belief",
    "The archive unpacks to more than {ratio:,} times its size, which no real result does.",
    "Pack the result files themselves, or as an uncompressed .tar.",
)
NOT_A_REGULAR_FILE = error(
    "not_a_regular_file",
    "Something in the archive is not an ordinary file",
    "This is a {what}; only ordinary files are taken.",
    "Put the file itself in its place (tar: `--dereference`) or leave it out.",
)
UNSAFE_NAME = error(
    "unsafe_name",
    "A file name that leads out of the archive",
    "The name {why}.",
    "Name files relative to the directory they are packed from, such as `results/...`.",
)
