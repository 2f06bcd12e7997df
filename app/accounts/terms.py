"""The operator's terms, which people accept when they register."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

VERSION_LENGTH = 12  # hexadecimal digits


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms as they are now.

    Attributes:
        text: Markdown.
        version: the beginning of the text's SHA-256: another text is another version.
    """

    text: str
    version: str

    @classmethod
    def read(cls, path: Path | None) -> Self | None:
        """Return the terms in a file; None without a file.

        Raises:
            OSError: it cannot be read.
        """
        if path is None:
            return None
        content = path.read_bytes()
        return cls(content.decode("utf-8-sig", "replace"), hashlib.sha256(content).hexdigest()[:VERSION_LENGTH])
