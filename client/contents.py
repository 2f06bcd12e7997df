"""What an archive enters, by the names of its files. The server decides, when it reads them."""

from collections.abc import Mapping
from pathlib import Path

from vocboard.evaluator.archives import UPLOAD_LIMITS, ArchiveError, members
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.result_files.names import FileNames
from vocboard.evaluator.tasks.registries.definitions import TASKS


def entered(archive: Path, edition: Edition) -> dict[str, frozenset[str]]:
    """Return the competitions that an archive has files of, in the edition's order, with the classes of these files.

    Empty if the archive cannot be read: the server says what is wrong with it.
    """
    names, found = FileNames(edition), dict[str, set[str]]()
    try:
        for member in members(archive, UPLOAD_LIMITS, lambda _: None):
            name = names.identify(member.name)
            if name is not None:
                classes = found.setdefault(name.competition.key, set())
                if name.label is not None:
                    classes.add(name.label)
    except (ArchiveError, OSError):
        return {}
    return {key: frozenset(found[key]) for key in edition.competitions if key in found}


def missing_classes(found: Mapping[str, frozenset[str]], edition: Edition) -> dict[str, tuple[str, ...]]:
    """Return the classes without a file of each competition that is entered, if its files are by class."""
    missing = {}
    for key, classes in found.items():
        competition = edition.competitions[key]
        definition = TASKS[competition.task]
        if not definition.has_file_per_image and not definition.has_one_file(competition.rules):
            missing[key] = tuple(name for name in competition.classes if name not in classes)
    return {key: classes for key, classes in missing.items() if classes}
