"""Files of an upload, and their names."""

from vocboard.evaluator.problems.registry import error, warning

DUPLICATE_FILE = error(
    "duplicate_file",
    "The same results twice",
    "{what} is in the archive twice: {first} and {second}.",
    "Keep only one of them.",
    example="results/comp4_det_test_car.txt and results/old/comp4_det_test_car.txt",
)
NO_RESULT_FILES = error(
    "no_result_files",
    "No result file in the archive",
    "The archive contains no result file of {edition}. {found}; {expected}.",
    "Name the result files as the challenge requires.",
    example="an archive with README.md and detections.json",
)
UNKNOWN_FILE = error(
    "unknown_file",
    "Not a result file",
    "This is not the name of a result file of {edition}; {expected}.",
    "Rename it, or remove it from the archive.",
    example="results/VOC2012/notes.txt among result files",
)
UNKNOWN_CLASS = error(
    "unknown_class",
    "A result file for an unknown class",
    "{competition} in {edition} has no {what} {label}; {expected}.",
    "Rename the file, or remove it from the archive.",
    example="comp4_det_test_cars.txt, comp4_det_test_airplane.txt, comp4_det_test_Car.txt",
)
WRONG_IMAGE_SET = error(
    "wrong_image_set",
    "A result file for another image set",
    "The file name says image set {found}, but {competition} uses {expected}.",
    "Run the method on {expected}. If you did, rename the file.",
    example="comp4_det_val_car.txt",
)
FILE_OF_ANOTHER_EDITION = error(
    "file_of_another_edition",
    "A file name of another edition",
    "This is the name of a result file of {others}, not of {edition}; {expected}.",
    "Rename it, or remove it from the archive.",
    example="comp7_layout_test_person.xml (VOC2007) in an upload for VOC2012",
)
NESTED_TOO_DEEP = error(
    "nested_too_deep",
    "Label maps nested too deep",
    "The label map is in a subdirectory of {directory}.",
    "Move it to {expected}.",
    example="Segmentation/comp5_test_cls/maps/2008_000001.png",
)
NESTED_ARCHIVE = error(
    "nested_archive",
    "An archive within the archive",
    "The file {looks}. Its content is not read.",
    "Pack the result files themselves.",
    example="results.zip in results.tar.gz, or comp4_det_test_car.txt.gz",
)
COMPETITION_NOT_OPEN = error(
    "competition_not_open",
    "Results for a competition that is not open here",
    "{count} (this one first) for {competition}, which is not open here. Open: {open}.",
    "Remove them, rename them for the competition they are meant for, or choose a phase that has it.",
    example="comp4_det_test_car.txt in a phase that only has comp3",
)
MORE_PROBLEMS = error(
    "more_problems",
    "More problems of the same kinds",
    "{count} not listed: {counts}.",
    "Fix the listed problems and check again; an error in every line usually has a single cause.",
    example="a file with an error in each of its 5,000 lines: 20 are listed",
)
MORE_WARNINGS = warning(
    "more_warnings",
    "More warnings of the same kinds",
    "{count} not listed: {counts}.",
    example="more than 20 warnings of one file",
)
READING_STOPPED = error(
    "reading_stopped",
    "Too many problems: reading stopped",
    "Because of the many problems, the file was only read up to line {last:,}.",
    "Fix the listed problems and check again.",
    example="a file with an error in each of its 1,000,000 lines",
)
