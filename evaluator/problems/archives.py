"""Archives."""

from vocboard.evaluator.problems.registry import error, warning

NOT_AN_ARCHIVE = error(
    "not_an_archive",
    "The upload is not an archive",
    "This is not a tar or zip archive: it {looks}.",
    "Pack the result files with, for example, `tar czf results.tar.gz results/`. Supported formats are .tar, .tar.gz, "
    ".tar.xz, .tar.bz2 and .zip.",
    example="results.tgz, which is really the text file comp4_det_test_car.txt",
)
DAMAGED_ARCHIVE = error(
    "damaged_archive",
    "The archive is damaged or incomplete",
    "The archive cannot be read {where}: {reason}.",
    "The upload may have been incomplete. Pack and upload it again.",
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
    "Unsupported zip compression",
    "This file uses zip compression method {method}; only “stored” and “deflated” are supported.",
    "Pack it again with an ordinary zip program, or as .tar.gz.",
    example="a zip archive with LZMA (method 14) or Zstandard (method 93)",
)
TOO_MANY_MEMBERS = error(
    "too_many_members",
    "Too many files in the archive",
    "The archive contains more than {limit:,} files and directories.",
    "Include only the result files.",
    example="the test images themselves, packed with the results",
)
MEMBER_TOO_LARGE = error(
    "member_too_large",
    "A file in the archive is too large",
    "This file unpacks to more than {limit}.",
    "Reduce the number of results, for instance with a threshold on the confidence.",
    example="comp4_det_test_car.txt with every window of every image",
)
ARCHIVE_TOO_LARGE = error(
    "archive_too_large",
    "The archive's content is too large",
    "The archive unpacks to more than {limit}.",
    "Include only the result files, or enter the competitions one by one.",
    example="twenty detection files of 300 MiB each",
)
UNREAD_CONTENT_TOO_LARGE = error(
    "unread_content_too_large",
    "Too many other files in the archive",
    "The archive contains more than {limit} of files that are not result files of this challenge.",
    "Include only the result files.",
    example="a model's weights, packed with the results",
)
COMPRESSION_RATIO = error(
    "compression_ratio",
    "Suspiciously high compression",
    "The archive unpacks to more than {ratio:,} times its size. Real results do not compress that well.",
    "Pack the result files themselves, or as an uncompressed .tar.",
    example="a gigabyte of zeros in an archive of a megabyte",
)
NOT_A_REGULAR_FILE = error(
    "not_a_regular_file",
    "Not a regular file",
    "This is a {what}; only regular files are accepted.",
    "Replace it with the file itself (tar: `--dereference`), or remove it.",
    example="comp4_det_test_car.txt -> ../../latest/car.txt, a symbolic link",
)
UNSAFE_NAME = error(
    "unsafe_name",
    "Unsafe file name",
    "The name {why}.",
    "Use printable names relative to the packed directory, such as `results/...`.",
    example="/home/me/results/comp4_det_test_car.txt, ../results.txt, C:\\results.txt",
)
BACKSLASHES_IN_NAMES = warning(
    "backslashes_in_names",
    "Windows paths in the archive",
    "{count} (this one first) {has} a name with backslashes. They were read as slashes.",
    "Separate directories with `/`, as Python's `tarfile` and `zipfile` do for relative paths.",
    example="results\\VOC2012\\Main\\comp4_det_test_car.txt",
)
IGNORED_FILES = warning(
    "ignored_files",
    "Files added by the operating system",
    "{count} of macOS or Windows (such as this one) {was} ignored.",
    "Such files are harmless. To leave them out on macOS, use `COPYFILE_DISABLE=1 tar ...`.",
    example="results/Main/._comp4_det_test_car.txt, __MACOSX/, .DS_Store, Thumbs.db",
)
TOO_MUCH_IGNORED = error(
    "too_much_ignored",
    "Too many files added by the operating system",
    "The archive contains more than {count:,} files added by macOS or Windows (such as this one), or more than {size} "
    "of them.",
    "Remove them: on macOS, use `COPYFILE_DISABLE=1 tar ...`, or `zip -X` without `__MACOSX`.",
    example="__MACOSX/ with a gigabyte in it",
)
