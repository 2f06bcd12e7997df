from pathlib import Path

import pytest

from vocboard.client.archive import OutgoingArchive
from vocboard.client.errors import MisuseError


def test_reports_progress(tmp_path: Path) -> None:
    path = tmp_path / "results.tar"
    path.write_bytes(b"x" * 25)
    pieces: list[int] = []

    with OutgoingArchive(path) as archive:
        archive.advanced = pieces.append
        while archive.read(10):
            pass

    assert pieces == [10, 10, 5, 0]
    assert (archive.name, archive.size) == ("results.tar", 25)


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
