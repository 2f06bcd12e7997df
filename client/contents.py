"""Competitions and classes that an archive enters, by its file names. The server decides when it reads them."""

from pathlib import Path

from vocboard.evaluator.archives import UPLOAD_LIMITS, ArchiveError, members
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.reading.file_names import FileNames


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
                classes.update(name.competition.classes if name.label is None else (name.label,))
    except (ArchiveError, OSError):
        return {}
    return {key: frozenset(found[key]) for key in edition.competitions if key in found}
