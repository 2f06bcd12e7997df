"""The archive itself, and what it is packed from."""

from vocboard.evaluator.problems.registry import error, warning

NOT_AN_ARCHIVE = error(
    "not_an_archive",
    "The upload is not an archive",
    "This is not a tar or zip archive, whatever its name says: it {looks}.",
    "Pack the result files with, for example, `tar czf results.tar.gz results/`; .tar, .tar.gz, .tar.xz, .tar.bz2 and "
    ".zip are read.",
    example="results.tgz, which is the text file comp4_det_test_car.txt under another name",
)
DAMAGED_ARCHIVE = error(
    "damaged_archive",
    "The archive is damaged or incomplete",
    "The archive cannot be read {where}: {reason}.",
    "It may have been cut short on its way; pack and upload it again.",
    example="results.tar.gz without its last kilobyte",
)
ENCRYPTED_MEMBER = error(
    "encrypted_member",
    "A file in the archive is encrypted",
    "This file is encrypted.",
    "Pack it without a password.",
    example="a zip archive made with `zip --encrypt`",
)
UNSUPPORTED_COMPRESSION = error(
    "unsupported_compression",
    "A zip compression that is not read",
    "This file is packed by zip's method {method}; stored and deflated files are read.",
    "Pack it again with an ordinary zip program, or as .tar.gz.",
    example="a zip archive with LZMA (method 14) or Zstandard (method 93)",
)
TOO_MANY_MEMBERS = error(
    "too_many_members",
    "Too many files in the archive",
    "The archive holds more than {limit:,} files and directories.",
    "Leave out everything but the result files.",
    example="the test images themselves, packed with the results",
)
MEMBER_TOO_LARGE = error(
    "member_too_large",
    "A file in the archive is too large",
    "This file unpacks to more than {limit}.",
    "Lower the number of results in it, for instance by a threshold on the confidence.",
    example="comp4_det_test_car.txt with every window of every image",
)
ARCHIVE_TOO_LARGE = error(
    "archive_too_large",
    "The archive's content is too large",
    "The archive unpacks to more than {limit}.",
    "Leave out everything but the result files, or enter the competitions one by one.",
    example="twenty detection files of 300 MiB each",
)
UNREAD_CONTENT_TOO_LARGE = error(
    "unread_content_too_large",
    "Too much in the archive that is no result",
    "More than {limit} of the archive's content is no result file of this challenge.",
    "Leave out everything but the result files.",
    example="a model's weights, packed with its results",
)
COMPRESSION_RATIO = error(
    "compression_ratio",
    "Content that is compressed beyond belief",
    "The archive unpacks to more than {ratio:,} times its size, which no real result does.",
    "Pack the result files themselves, or as an uncompressed .tar.",
    example="a gigabyte of zeros in an archive of a megabyte",
)
NOT_A_REGULAR_FILE = error(
    "not_a_regular_file",
    "Something in the archive is not an ordinary file",
    "This is a {what}; only ordinary files are taken.",
    "Put the file itself in its place (tar: `--dereference`) or leave it out.",
    example="comp4_det_test_car.txt -> ../../latest/car.txt, a symbolic link",
)
UNSAFE_NAME = error(
    "unsafe_name",
    "A file name that cannot be trusted",
    "The name {why}.",
    "Name files relative to the directory they are packed from, such as `results/...`, in printable characters.",
    example="/home/me/results/comp4_det_test_car.txt, ../results.txt, C:\\results.txt",
)
BACKSLASHES_IN_NAMES = warning(
    "backslashes_in_names",
    "Windows paths in the archive",
    "{count} (this one first) {has} a name with backslashes, which were read as slashes.",
    "Divide directories by `/` when packing; Python's `tarfile` and `zipfile` do if they are given relative paths.",
    example="results\\VOC2012\\Main\\comp4_det_test_car.txt",
)
IGNORED_FILES = warning(
    "ignored_files",
    "Files that the operating system put into the archive",
    "{count} of macOS or Windows (such as this one) {was} passed over.",
    "They do no harm. On macOS, `COPYFILE_DISABLE=1 tar ...` leaves them out.",
    example="results/Main/._comp4_det_test_car.txt, __MACOSX/, .DS_Store, Thumbs.db",
)
TOO_MUCH_IGNORED = error(
    "too_much_ignored",
    "Too much that the operating system put into the archive",
    "The archive holds more than {count:,} files that macOS or Windows add (such as this one), or more than {size} of "
    "them.",
    "Leave them out: on macOS, `COPYFILE_DISABLE=1 tar ...`, or `zip -X` without `__MACOSX`.",
    example="__MACOSX/ with a gigabyte in it",
)
