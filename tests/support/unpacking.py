"""Unpacking archives of our own, on every Python."""

import tarfile
from pathlib import Path
from typing import BinaryIO


def unpack(archive: Path | BinaryIO, directory: Path) -> None:
    """Unpack an archive; Debian 12's Python 3.11 has no filters."""
    given = {"name": archive} if isinstance(archive, Path) else {"fileobj": archive}
    with tarfile.open(**given) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        opened.extractall(directory)
