"""Which files an upload has, and their names."""

from vocboard.evaluator.problems.registry import error, warning

DUPLICATE_FILE = error(
    "duplicate_file",
    "The same results twice",
    "{what} is given twice in the archive: {first} and {second}.",
    "Keep one of them.",
    example="results/comp4_det_test_car.txt and results/old/comp4_det_test_car.txt",
)
NO_RESULT_FILES = error(
    "no_result_files",
    "No result file in the archive",
    "The archive holds no result file of {edition}. {found}; {expected}.",
    "Pack result files under the names that the challenge gives them.",
    example="an archive with README.md and detections.json",
)
UNKNOWN_FILE = error(
    "unknown_file",
    "A file that is no result file",
    "{name} is not the name of a result file of {edition}; {expected}.",
    "Rename it, or leave it out of the archive.",
    example="results/VOC2012/notes.txt beside result files",
)
UNKNOWN_CLASS = error(
    "unknown_class",
    "A result file for a class that the challenge does not have",
    "{label} is no {what} of {competition} in {edition}; {expected}.",
    "Rename the file, or leave it out of the archive.",
    example="comp4_det_test_cars.txt, comp4_det_test_airplane.txt, comp4_det_test_Car.txt",
)
WRONG_IMAGE_SET = error(
    "wrong_image_set",
    "A result file for another image set",
    "The file is named for the image set {found}; {competition} is judged on {expected}.",
    "Run the method on that set; if it did, rename the file.",
    example="comp4_det_val_car.txt",
)
FILE_OF_ANOTHER_EDITION = error(
    "file_of_another_edition",
    "A file name of another year",
    "{name} is the name of a result file of {others}, not of {edition}; {expected}.",
    "Rename it, or leave it out of the archive.",
    example="comp7_layout_test_person.xml (VOC2007) in an upload for VOC2012",
)
NESTED_TOO_DEEP = error(
    "nested_too_deep",
    "Label maps a directory too deep",
    "{name} lies below {directory}, but not directly in it.",
    "Put it at {expected}.",
    example="Segmentation/comp5_test_cls/maps/2008_000001.png",
)
NESTED_ARCHIVE = error(
    "nested_archive",
    "An archive within the archive",
    "{name} {looks}; what is in it is not looked at.",
    "Pack the result files themselves.",
    example="results.zip in results.tar.gz, or comp4_det_test_car.txt.gz",
)
COMPETITION_NOT_OPEN = error(
    "competition_not_open",
    "Results for a competition that is not part of this challenge",
    "{count} (this one first) for {competition}, which this challenge does not hold; it holds {open}.",
    "Leave them out, or name them for the competition they are meant for.",
    example="comp4_det_test_car.txt where only comp3 is held",
)
MORE_PROBLEMS = error(
    "more_problems",
    "More of the same",
    "{count} not listed: {counts}.",
    "Mend those that are listed, and check again; with an error in every line there is usually one cause.",
    example="a file with an error in each of its 5,000 lines: 20 are listed",
)
MORE_WARNINGS = warning(
    "more_warnings",
    "More warnings of the same",
    "{count} not listed: {counts}.",
    example="more than 20 warnings of one file",
)
READING_STOPPED = error(
    "reading_stopped",
    "So many problems that reading was stopped",
    "With so many problems the file was not read further than line {last:,}.",
    "Mend those that are listed, and check again.",
    example="a file with an error in each of its 1,000,000 lines",
)
