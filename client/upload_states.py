"""Where interrupted uploads can be continued: one small file for each, in the user's cache directory."""

import contextlib
import hashlib
import json
import os
import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

FORGOTTEN_AFTER_SECONDS = 2 * 24 * 3600  # servers keep unfinished uploads for a day at most
ONLY_OWNER = 0o600


@dataclass(frozen=True, slots=True)
class UploadState:
    """An upload that is not submitted yet.

    Attributes:
        upload_id: its id on the server.
        offset: bytes that the server has confirmed. For people: the server is asked before more is sent.
        archive: path of the archive, and for which server and challenge. For people.
    """

    upload_id: str
    offset: int
    size: int
    archive: str
    server: str
    challenge: str


def cache_directory(
    platform: str = sys.platform, environment: Mapping[str, str] = os.environ, home: Path | None = None
) -> Path:
    """Return the platform's directory for what can be made again.

    That is `$XDG_CACHE_HOME/vocboard` or `~/.cache/vocboard`, on macOS `~/Library/Caches/vocboard`, on Windows
    `%LOCALAPPDATA%\\vocboard\\Cache`. `XDG_CACHE_HOME` is used on every platform if it is set.
    """
    configured = environment.get("XDG_CACHE_HOME", "")
    if os.path.isabs(configured):  # the specification says to ignore relative paths
        return Path(configured) / "vocboard"
    home = home or Path.home()
    if platform == "darwin":
        return home / "Library" / "Caches" / "vocboard"
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "vocboard" / "Cache"
    return home / ".cache" / "vocboard"


class UploadStates:
    """The stored states. What cannot be read or written is ignored: then an upload starts again from the beginning.

    Args of the constructor:
        directory: by default, `uploads` in the cache directory.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or cache_directory() / "uploads"

    def path(self, server: str, challenge: str, sha256: str) -> Path:
        """Return the file of an archive's upload to a challenge."""
        name = hashlib.sha256("\n".join((server, challenge, sha256)).encode()).hexdigest()
        return self._directory / f"{name}.json"

    def load(self, path: Path) -> UploadState | None:
        """Read a state; None if there is none. Old states are removed."""
        self._forget_old()
        try:
            return UploadState(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def save(self, path: Path, state: UploadState) -> None:
        """Write a state atomically, to a file that only its owner can read."""
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, ONLY_OWNER)
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump(asdict(state), stream, indent=2)
            temporary.replace(path)

    def remove(self, path: Path) -> None:
        """Remove a state."""
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

    def _forget_old(self) -> None:
        oldest = time.time() - FORGOTTEN_AFTER_SECONDS
        with contextlib.suppress(OSError):
            for path in self._directory.iterdir():
                if path.stat().st_mtime < oldest:
                    path.unlink(missing_ok=True)
