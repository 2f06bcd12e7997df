"""Headlines of groups of problems: one sentence for the cause, one for what to do.

A headline is never taken from the ground truth: it is made of the upload and of the public image sets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from vocboard.evaluator.problems import Kind, Problem, Share, counted, quoted
from vocboard.evaluator.problems.identifiers import UnknownImages, example_of

_MAX_NAME_LENGTH = 100  # characters of a file name in a headline


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about an upload in addition to its problems.

    Attributes:
        edition: name of the edition.
        image_set: name of the image set.
        images: identifiers of the test set.
        unknown_images: identifiers in the upload that are not in the test set.
        sets_of_unknown: names of the image sets that these are not in; empty to take `image_set`.
        file_count: number of files in the archive.
        result_file_count: number of these that are result files by their names.
        result_folders: the folder that all result files are in, the archive's root being empty; several if each has the
            same results, and any is enough. Empty if the results are spread over folders, or if there are none.
        map_folders: folders of the label maps of each competition, with what its methods may be trained on, if there
            are several.
        misplaced_maps: label maps of test images that are in no such folder.
        map_count: number of label maps.
    """

    edition: str = "the edition"
    image_set: str = "test"
    images: Sequence[str] = ()
    unknown_images: UnknownImages = field(default_factory=UnknownImages)
    sets_of_unknown: str = ""
    file_count: int = 0
    result_file_count: int = 0
    result_folders: Sequence[str] = ()
    map_folders: Mapping[str, str] = field(default_factory=dict)
    misplaced_maps: Sequence[str] = ()
    map_count: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """The problems of one kind in an upload.

    Attributes:
        kind: None for codes of another version of this program.
        problems: those that are listed; may be empty.
        count, files: how many problems there are, in how many files.
        lines: number of lines of these files; None for files without lines.
        share: of the results of these files that the problem is about; None for problems of whole files.
    """

    code: str
    kind: Kind | None
    problems: Sequence[Problem]
    count: int
    files: int
    lines: int | None
    share: Share | None = None


def headline(found: Found, facts: Facts) -> str:
    """Return the headline for problems of one kind."""
    special = _SPECIAL.get(found.code)
    text = special(found, facts) if special is not None else None
    if text is not None:
        return text
    if found.count == 1 and found.problems:
        return found.problems[0].message
    if found.kind is None:
        return f"{found.code}: {_times(found)}."
    if "{" in found.kind.remedy:  # it differs from place to place
        messages = {problem.message for problem in found.problems}
        example = "" if len(messages) == 1 else "For example: "
        return f"{found.kind.title}: {_times(found)}." + (
            f" {example}{found.problems[0].message}" if found.problems else ""
        )
    return f"{found.kind.title}: {_times(found)}. {found.kind.remedy}".strip()


def _quoted_name(name: str) -> str:
    """Return the name of a file in quotes. Names of archives are printable, and backslashes in them are not doubled."""
    return f"'{name}'" if name.isprintable() and len(name) <= _MAX_NAME_LENGTH else quoted(name)


def _times(found: Found) -> str:
    if found.share is not None:
        return f"{found.share}{_in_files(found)}"
    places = f" in {counted(found.files, 'file')}" if 0 < found.files < found.count else ""
    what = "files" if found.files == found.count else "places"
    return f"{found.count:,} {what}{places}" if found.count > 1 else "1 place"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _in_files(found: Found) -> str:
    return f" in {counted(found.files, 'file')}" if found.files > 1 else ""


def _unknown_image(found: Found, facts: Facts) -> str | None:
    if found.count == 1:
        return None
    total, noun = found.lines, "line"
    suffixes = {(problem.file or "").rpartition(".")[2] for problem in found.problems}
    has_only_maps = facts.map_count and facts.map_count == facts.result_file_count
    if suffixes == {"png"} or (not suffixes and has_only_maps):
        total, noun = facts.map_count, "label map"
    if facts.unknown_images.number != found.count or (noun == "line" and (total is None or suffixes & {"png", "xml"})):
        total, noun = None, "result"  # layouts, or of several kinds
    if facts.unknown_images.misspelt == found.count:
        subject = f"{found.count:,} {noun}s{_in_files(found)} name test images with other zeros, punctuation or endings"
        return f"{subject}. Write identifiers as in the image set file{example_of(facts.images)}."
    looks = facts.unknown_images.looks_like(facts.images)
    is_all = total is not None and found.count >= total
    of = ""
    is_other_split = "another split" in looks
    which = "images that are not in the test set" if is_other_split or not looks else "images of another test set"
    if is_all:
        of = f" of {counted(found.files, 'file')}" if noun == "line" and found.files < facts.result_file_count else ""
        subject = f"All {counted(found.count, noun)}{of} {'name' if noun == 'line' else 'are of'} {which}"
    else:
        share = f" of {total:,}" if total is not None else ""
        name = "name" if noun == "line" else "are of"
        subject = f"{found.count:,}{share} {noun}s{_in_files(found)} {name} {which}"
    if looks:
        subject += f"; {looks}" if looks.startswith("they") else f": {looks}"
    remedy = "Run the method on" if is_all else "Remove them, and enter only"
    if of:  # the other files are right
        remedy = f"Leave {'this file' if found.files == 1 else 'these files'} out, or run the method on"
    image_set = facts.sets_of_unknown or facts.image_set
    return f"{subject}. {remedy} the {image_set} images of {facts.edition}{example_of(facts.images)}."


def _comma_decimal(found: Found, _facts: Facts) -> str:
    numbers = f"{counted(found.count, 'number')}{_in_files(found)} {_have(found.count)} a decimal comma"
    return f"{numbers}. Write a decimal point: 0.75, not 0,75."


def _wrong_image_set(found: Found, facts: Facts) -> str | None:
    if found.count == 1 or not found.problems or " or " in facts.image_set:  # which one depends on the competition
        return None
    files = counted(found.files, "file")
    return (
        f"{files} are named for another image set than {quoted(facts.image_set)}, such as "
        f"{_quoted_name(_name(found.problems[0]))}. Run the method on the {facts.image_set} images; if you did, write "
        f"{facts.image_set} in the names."
    )


def _name(problem: Problem) -> str:
    """Return the part of a file's name that names the image set: label maps are in a folder that does."""
    parts = (problem.file or "").split("/")
    return "/".join(parts[-2:] if parts[-1].lower().endswith(".png") else parts[-1:])


def _no_result_files(found: Found, facts: Facts) -> str | None:
    return _misplaced(facts) if facts.misplaced_maps and found.count == 1 else None


def _misplaced(facts: Facts) -> str:
    number = len(facts.misplaced_maps)
    folders = {name.rpartition("/")[0] for name in facts.misplaced_maps}
    maps = counted(number, "label map")
    if folders == {""}:
        where = f"{maps} {_are(number)} not in a folder"
    elif len(folders) == 1:
        where = f"{maps} {_are(number)} in the folder {_quoted_name(folders.pop() + '/')}"
    else:
        where = f"{maps} {_are(number)} in folders with other names"
    them = "it" if number == 1 else "them"
    into = " or ".join(
        f"{folder} (trained on {data})" if data else folder for folder, data in facts.map_folders.items()
    )
    return f"{where}; put {them} into {into}."


def _unknown_file(found: Found, facts: Facts) -> str | None:
    if facts.misplaced_maps and (found.count - len(facts.misplaced_maps) <= 1 or not facts.result_file_count):
        rest = found.count - len(facts.misplaced_maps)
        others = "1 other file is not a result file" if rest == 1 else f"{rest:,} other files are not result files"
        return f"{_misplaced(facts)} {others}." if rest else _misplaced(facts)
    if found.count == 1:
        return None
    which = f"{found.count:,} of the {facts.file_count:,} files in the archive are not result files"
    return f"{which}. {_which_folder(facts) or 'Pack only the result files.'}"


def _which_folder(facts: Facts) -> str | None:
    folders = [_quoted_name(f"{folder}/") for folder in facts.result_folders if folder]
    if len(folders) > 1:
        return f"Pack only one of the folders {', '.join(folders[:-1])} and {folders[-1]}."
    return f"Pack only the folder {folders[0]}." if folders else None


def _duplicate_file(found: Found, facts: Facts) -> str | None:
    if found.count == 1:
        return None
    to_do = _which_folder(facts) or "Keep one of each."
    return f"{counted(found.count, 'result file')} {_are(found.count)} in the archive twice. {to_do}"


def _nested_too_deep(found: Found, facts: Facts) -> str | None:
    if found.count == 1:
        return None
    folders = " or ".join(facts.map_folders)
    return f"{counted(found.count, 'label map')} are in subfolders of {folders}. Move them to that folder itself."


def _nested_archive(found: Found, _facts: Facts) -> str | None:
    if not found.problems:
        return None
    name = _quoted_name(found.problems[0].file or "")
    if found.count == 1:
        return f"The archive contains another archive, {name}. Unpack it, and pack the result files themselves."
    others = f"The archive contains {counted(found.count, 'other archive')}, such as {name}"
    return f"{others}. Unpack them, and pack the result files themselves."


def _unsafe_name(found: Found, _facts: Facts) -> str | None:
    if found.count == 1:
        return None
    names = f"{counted(found.count, 'file name')} cannot be used, such as {_quoted_name(found.problems[0].file or '')}"
    return f"{names}. Pack the folder from within, so that names begin with 'results/', not with a drive, '/' or '..'."


def _image_with_file_name(found: Found, _facts: Facts) -> str | None:
    if found.problems and all((problem.file or "").endswith(".png") for problem in found.problems):
        name = _quoted_name((found.problems[0].file or "").rpartition("/")[2])
        if found.count == 1:
            return f"The label map {name} is named after an image file. Name it <image>.png."
        return f"{found.count:,} label maps are named after image files, such as {name}. Name them <image>.png."
    if found.count == 1:
        return None
    lines = f"{counted(found.count, 'line')}{_in_files(found)} {_have(found.count)} a file name or path"
    return f"{lines} in place of the image identifier. Remove directories and the file extension."


def _png_rgb(found: Found, _facts: Facts) -> str | None:
    if found.count == 1:
        return None
    maps = f"{counted(found.count, 'label map')} hold colours instead of class indices"
    return f"{maps}. Save the class indices, with the VOC palette, as PNG of 8 bits per pixel."


def _competition_not_open(found: Found, _facts: Facts) -> str | None:
    if found.count == 1 or found.kind is None:
        return None
    facts = " ".join(problem.message.removesuffix(found.kind.remedy).strip() for problem in found.problems)
    return f"{facts} {found.kind.remedy}"


_SPECIAL: Mapping[str, Callable[[Found, Facts], str | None]] = {
    "unknown_image": _unknown_image,
    "comma_decimal": _comma_decimal,
    "wrong_image_set": _wrong_image_set,
    "no_result_files": _no_result_files,
    "unknown_file": _unknown_file,
    "duplicate_file": _duplicate_file,
    "nested_archive": _nested_archive,
    "nested_too_deep": _nested_too_deep,
    "unsafe_name": _unsafe_name,
    "image_with_file_name": _image_with_file_name,
    "png_rgb": _png_rgb,
    "competition_not_open": _competition_not_open,
}
