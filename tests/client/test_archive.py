import hashlib
import os
from pathlib import Path

import pytest

from vocboard.client.archive import OutgoingArchive
from vocboard.client.errors import ChangedArchiveError, MisuseError


def test_knows_its_name_size_and_hash(tmp_path: Path) -> None:
    path = tmp_path / "results.tar"
    path.write_bytes(b"x" * 25)

    with OutgoingArchive(path) as archive:
        assert (archive.name, archive.size) == ("results.tar", 25)
        assert archive.sha256() == hashlib.sha256(b"x" * 25).hexdigest()
        archive.seek(20)
        assert archive.read(10) == b"x" * 5


def test_a_file_that_changes_after_it_was_opened_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "results.tar"
    path.write_bytes(b"x" * 25)

    with OutgoingArchive(path) as archive:
        archive.check_unchanged()
        os.utime(path, ns=(1, 1))
        with pytest.raises(ChangedArchiveError, match=r"results\.tar changed on disk during the upload"):
            archive.check_unchanged()


def test_what_is_appended_in_the_meantime_stays_behind(tmp_path: Path) -> None:
    path = tmp_path / "results.tar"
    path.write_bytes(b"x" * 25)

    with OutgoingArchive(path) as archive:
        with path.open("ab") as file:
            file.write(b"more")
        assert len(archive.read(1000)) == 25
        assert archive.read(1000) == b""


def test_a_directory_is_to_be_packed_first(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="tar czf"):
        OutgoingArchive(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match=r"results\.tar: No such file"):
        OutgoingArchive(tmp_path / "results.tar")
