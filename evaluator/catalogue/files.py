"""Which files an upload has."""

from evaluator.catalogue.registry import error, warning

DUPLICATE_FILE = error(
    "duplicate_file",
    "The same results twice",
    "{what} is given twice in the archive: {first} and {second}.",
    "Keep one of them.",
)
IGNORED_FILES = warning(
    "ignored_files",
    "Files that the operating system put into the archive",
    "{count} of macOS or Windows (such as this one) {was} passed over.",
)
NO_RESULT_FILES = error(
    "no_result_files",
    "No result file in the archive",
    "The archive holds no result file of {edition}. {found}; {expected}.",
    "Pack result files under the names that the challenge gives them.",
)
UNKNOWN_FILE = error(
    "unknown_file",
    "A file that is no result file",
    "{name} is not the name of a result file of {edition}; {expected}.",
    "Rename it, or leave it out of the archive.",
)
COMPETITION_NOT_OPEN = error(
    "competition_not_open",
    "Results for a competition that is not part of this challenge",
    "{count} (this one first) for {competition}, which this challenge does not hold; it holds {open}.",
    "Leave them out, or name them for the competition they are meant for.",
)
MORE_PROBLEMS = error(
    "more_problems",
    "More of the same",
    "{count} not listed: {counts}.",
)
MORE_WARNINGS = warning("more_warnings", "More warnings of the same", "{count} not listed: {counts}.")
