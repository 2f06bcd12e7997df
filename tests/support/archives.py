"""Exports of challenges that somebody has changed, and the files of archives."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vocboard.app.storage.archives import ArchiveStore, object_name

Change = Callable[[dict[str, bytes]], None]


def stored_path(store: ArchiveStore, sha256: str) -> Path:
    """Return the path of content in a store in a directory, whether or not it exists."""
    return store.incoming.parent / object_name(sha256)


def edited(path: Path, change: Change) -> Path:
    """Write an archive again with changed files."""
    with tarfile.open(path) as tar:
        files = {name: tar.extractfile(name).read() for name in tar.getnames()}  # type: ignore[union-attr]
    change(files)
    target = path.with_name("edited.tar")
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return target


def changed(name: str, change: Callable[[dict[str, Any]], object], *, first: bool = False) -> Change:
    """Return a change of the records of a file (JSON, or JSON Lines), or of the first one alone."""

    def of_files(files: dict[str, bytes]) -> None:
        lines = files[name].splitlines() if name.endswith(".jsonl") else [files[name]]
        records = [json.loads(line) for line in lines]
        for record in records[:1] if first else records:
            change(record)
        files[name] = b"\n".join(json.dumps(record).encode() for record in records)

    return of_files


def in_first(name: str, change: Callable[[dict[str, Any]], object]) -> Change:
    """Return a change of the first record of a file."""
    return changed(name, change, first=True)
