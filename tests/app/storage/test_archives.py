"""Archives are kept whole or not at all."""

import errno
import hashlib
import os
import time
from pathlib import Path

import pytest

from vocboard.app.errors import TooLargeError
from vocboard.app.storage.archives import ArchiveStore, DamagedArchiveError
from vocboard.app.storage.incoming_file import ABANDONED_AFTER

CONTENT = b"results" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> ArchiveStore:
    return ArchiveStore(tmp_path)


def files(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file()]


def keep(store: ArchiveStore) -> str:
    with store.receive(limit=len(CONTENT)) as archive:
        for start in range(0, len(CONTENT), 100):
            archive.write(CONTENT[start : start + 100])
        return archive.keep()


def test_keeps_an_archive_under_its_hash(store: ArchiveStore, tmp_path: Path) -> None:
    assert keep(store) == SHA256
    assert store.verify(SHA256).read_bytes() == CONTENT
    assert files(tmp_path) == [tmp_path / SHA256[:2] / SHA256[2:]]


def test_keeps_the_same_content_once(store: ArchiveStore, tmp_path: Path) -> None:
    assert keep(store) == keep(store)
    assert len(files(tmp_path)) == 1


def test_an_upload_can_be_read_before_it_is_kept(store: ArchiveStore) -> None:
    with store.receive(limit=10) as archive:
        archive.write(b"ab")
        archive.finish()
        assert (archive.path.read_bytes(), archive.size) == (b"ab", 2)


def test_refuses_a_byte_too_many_and_leaves_nothing(store: ArchiveStore, tmp_path: Path) -> None:
    with store.receive(limit=2) as archive:
        archive.write(b"ab")
        with pytest.raises(TooLargeError, match="2 bytes"):
            archive.write(b"c")
    assert files(tmp_path) == []


def test_what_is_not_kept_leaves_nothing(store: ArchiveStore, tmp_path: Path) -> None:
    def break_off() -> None:
        with store.receive(limit=10) as archive:
            archive.write(b"ab")
            raise ConnectionError

    with pytest.raises(ConnectionError):
        break_off()
    assert files(tmp_path) == []


def descriptors_of(path: Path) -> list[int]:
    """Return the numbers under which this process has a file open."""
    return [int(link.name) for link in Path("/proc/self/fd").iterdir() if link.resolve() == path.resolve()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_is_told_and_leaves_nothing(store: ArchiveStore, tmp_path: Path) -> None:
    def fill() -> None:
        with store.receive(limit=10**6) as archive, Path("/dev/full").open("wb") as full:
            for descriptor in descriptors_of(archive.path):
                os.dup2(full.fileno(), descriptor)
            archive.write(CONTENT)
            archive.finish()

    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        fill()
    assert files(tmp_path) == []


def test_a_changed_archive_is_not_read(store: ArchiveStore) -> None:
    keep(store)
    store.path(SHA256).write_bytes(b"something else")
    with pytest.raises(DamagedArchiveError):
        store.verify(SHA256)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "a" * 63, "A" * 64])
def test_only_a_hash_names_an_archive(store: ArchiveStore, name: str) -> None:
    with pytest.raises(ValueError, match="not a SHA-256"):
        store.path(name)


def test_removes_what_killed_uploads_left_but_not_what_still_arrives(store: ArchiveStore, tmp_path: Path) -> None:
    with store.receive(limit=10) as archive:
        left = store.incoming / "left"
        left.write_bytes(b"half")
        long_ago = time.time() - ABANDONED_AFTER.total_seconds() - 60
        for path in (left, archive.path):
            os.utime(path, (long_ago, long_ago))
        store.remove_abandoned()
        assert files(tmp_path) == [archive.path]
