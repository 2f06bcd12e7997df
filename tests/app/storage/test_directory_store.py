"""Archives in a directory: what other stores do differently. The rest is in test_archive_stores.py."""

import errno
import hashlib
import os
import time
from pathlib import Path

import pytest

from tests.support.archives import stored_path
from vocboard.app.storage.archives import SET_ASIDE_FOR, ArchiveStore
from vocboard.app.storage.directory_objects import DirectoryObjects
from vocboard.app.storage.local_files import ABANDONED_AFTER

CONTENT = b"results" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> ArchiveStore:
    return ArchiveStore(tmp_path)


def files(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file()]


def keep(store: ArchiveStore) -> None:
    with store.receive(limit=len(CONTENT)) as archive:
        archive.write(CONTENT)
        archive.keep()


def age(path: Path, seconds: float) -> None:
    long_ago = time.time() - seconds - 60
    os.utime(path, (long_ago, long_ago))


def test_the_beginning_of_a_hash_is_a_folder_and_workers_of_the_same_group_may_read(
    store: ArchiveStore, tmp_path: Path
) -> None:
    keep(store)
    assert files(tmp_path) == [tmp_path / SHA256[:2] / SHA256[2:]]
    assert stored_path(store, SHA256).stat().st_mode & 0o777 == 0o640


def test_without_its_directory_it_cannot_be_written(tmp_path: Path) -> None:
    assert not ArchiveStore(tmp_path / "missing").can_write()


def test_what_the_system_keeps_in_the_root_of_a_disk_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir(mode=0o700)  # of root, so that reading it is an error
    (tmp_path / "lost+found" / "#12").touch()
    assert list(DirectoryObjects(tmp_path).names()) == []


def test_a_power_failure_loses_no_upload_but_may_lose_what_was_read_from_it(
    store: ArchiveStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: on_disk.append(os.fstat(descriptor).st_ino))

    def is_on_disk(*paths: Path) -> bool:
        return all(path.stat().st_ino in on_disk for path in paths)

    with store.receive(limit=len(CONTENT)) as archive, store.receive_columns(archive) as columns:
        archive.write(CONTENT)
        columns.write(b"columns")
        of_archive, of_columns = stored_path(store, archive.keep()), stored_path(store, columns.keep())
    assert is_on_disk(of_archive, of_archive.parent, tmp_path)
    assert of_columns.read_bytes() == b"columns"
    assert not is_on_disk(of_columns)


def descriptors_of(path: Path) -> list[int]:
    """Return the numbers under which this process has a file open."""
    return [int(link.name) for link in Path("/proc/self/fd").iterdir() if link.resolve() == path.resolve()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_is_reported_and_leaves_nothing(store: ArchiveStore, tmp_path: Path) -> None:
    def fill() -> None:
        with store.receive(limit=10**6) as archive, Path("/dev/full").open("wb") as full:
            for descriptor in descriptors_of(archive.path):
                os.dup2(full.fileno(), descriptor)
            archive.write(CONTENT)
            archive.finish()

    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        fill()
    assert files(tmp_path) == []


def test_removes_what_killed_uploads_left_but_not_what_still_arrives(store: ArchiveStore, tmp_path: Path) -> None:
    with store.receive(limit=10) as archive:
        left = store.incoming / "left"
        left.write_bytes(b"half")
        for path in (left, archive.path):
            age(path, ABANDONED_AFTER.total_seconds())
        assert store.remove_abandoned() == 1
        assert files(tmp_path) == [archive.path]


def test_removes_what_was_set_aside_long_ago(store: ArchiveStore, tmp_path: Path) -> None:
    keep(store)
    store.set_aside(SHA256)
    [aside] = files(tmp_path)
    age(aside, SET_ASIDE_FOR.total_seconds())
    assert store.remove_abandoned() == 1
    assert (files(tmp_path), list(store.aside())) == ([], [])
