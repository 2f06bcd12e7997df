"""Archives of every kind give the same members; what is none says what it is."""

import gzip
import os
import tarfile
from pathlib import Path

import pytest

from tests.evaluator.uploads import add, directory, tar, zipped
from vocboard.evaluator.archives import UPLOAD_LIMITS, ArchiveError, members
from vocboard.evaluator.problems import Problem

CONTENT = {"results/a.txt": b"one\n", "results/deep/b.txt": b"", "c.bin": bytes(range(256)) * 5}


def read(path: Path) -> dict[str, bytes]:
    return {member.name: member.read() for member in members(path, UPLOAD_LIMITS)}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_reads_tar_whatever_its_compression_and_its_name(tmp_path: Path, mode: str) -> None:
    assert read(tar(tmp_path / "results.dat", CONTENT, mode)) == CONTENT


@pytest.mark.parametrize("tar_format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_reads_long_and_foreign_names_in_every_format(tmp_path: Path, tar_format: int) -> None:
    names = ["x" * 90 + "/" + "y" * 60 + ".txt", "results/übung.txt"]
    if tar_format != tarfile.USTAR_FORMAT:
        names.append("z" * 300)
    with tarfile.open(tmp_path / "long.tar", "w", format=tar_format) as archive:
        for name in names:
            add(archive, name, name)
    assert read(tmp_path / "long.tar") == {name: name.encode() for name in names}


def test_reads_zip_and_directory(tmp_path: Path) -> None:
    assert read(zipped(tmp_path / "results.zip", CONTENT)) == CONTENT
    assert read(directory(tmp_path / "results", CONTENT)) == CONTENT


def test_reads_a_file_larger_than_a_chunk_of_several_xz_streams(tmp_path: Path) -> None:
    big = bytes(range(251)) * 9_000
    tar(tmp_path / "big.tar.xz", {"big": big}, "w:xz")
    assert read(tmp_path / "big.tar.xz") == {"big": big}


def test_names_lose_their_leading_dot_and_members_keep_their_order(tmp_path: Path) -> None:
    tar(tmp_path / "a.tar", {"./z.txt": b"", "./a/./b.txt": b""}, "w")
    assert list(read(tmp_path / "a.tar")) == ["z.txt", "a/b.txt"]


def test_first_bytes_alone_can_be_read_and_members_left_out(tmp_path: Path) -> None:
    tar(tmp_path / "a.tar.gz", CONTENT)
    found = [member.read(2) for member in members(tmp_path / "a.tar.gz", UPLOAD_LIMITS) if member.name != "c.bin"]
    assert found == [b"on", b""]


def test_passes_over_what_operating_systems_add_with_one_warning(tmp_path: Path) -> None:
    additions = {"__MACOSX/results/._a.txt": b"", "results/._a.txt": b"", "results/.DS_Store": b""}
    tar(tmp_path / "a.tar.gz", {**additions, "results/a.txt": b""})
    problems: list[Problem] = []
    assert [member.name for member in members(tmp_path / "a.tar.gz", UPLOAD_LIMITS, problems.append)] == [
        "results/a.txt"
    ]
    assert [(problem.code, problem.severity) for problem in problems] == [("ignored_files", "warning")]
    assert "3 additions" in problems[0].message


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        (b"000001 0.5\n", "begins with the text '000001 0.5'"),
        (b"", "is empty"),
        (b"Rar!\x1a\x07\x01\x00", "is a RAR archive"),
        (b"\x00\x01\x02", "begins with the bytes 00 01 02"),
        (b"\x1f\x8b", "ends too early"),
    ],
)
def test_what_is_not_a_archive_is_one_clear_problem(tmp_path: Path, data: bytes, looks: str) -> None:
    (tmp_path / "results.tgz").write_bytes(data)
    with pytest.raises(ArchiveError) as caught:
        read(tmp_path / "results.tgz")
    problem = caught.value.problem
    assert looks in problem.message or problem.code == "damaged_archive"
    assert problem.file is None


def test_compressed_text_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "results.tar.gz").write_bytes(gzip.compress(b"000001 0.5\n" * 100))
    with pytest.raises(ArchiveError) as caught:
        read(tmp_path / "results.tar.gz")
    assert caught.value.problem.code == "not_an_archive"
    assert "compressed with gzip" in caught.value.problem.message


def test_backslashes_divide_names_as_slashes_do_with_one_warning(tmp_path: Path) -> None:
    names = {"results\\Main\\a.txt": b"a", "results\\b.txt": b"b"}
    with_folder = {"results\\Layout\\": b"", **names}  # as PowerShell and .NET write empty ones
    for path in (tar(tmp_path / "a.tar", names, "w"), zipped(tmp_path / "a.zip", with_folder)):
        problems: list[Problem] = []
        assert [member.name for member in members(path, UPLOAD_LIMITS, problems.append)] == [
            "results/Main/a.txt",
            "results/b.txt",
        ]
        assert [(problem.code, problem.severity) for problem in problems] == [("backslashes_in_names", "warning")]
        assert problems[0].message.startswith("2 files")


def test_names_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w", encoding="latin-1", format=tarfile.GNU_FORMAT) as archive:
        add(archive, "r\u00e9sultats.txt", "")
    problems: list[Problem] = []
    assert list(members(tmp_path / "a.tar", UPLOAD_LIMITS, problems.append)) == []
    [problem] = problems
    assert problem.code == "unsafe_name"
    assert "is not UTF-8: 'r\\udce9sultats.txt'" in problem.message


def test_a_pipe_is_an_error_that_names_it(tmp_path: Path) -> None:
    ends = os.pipe()
    os.write(ends[1], bytes(512))
    with pytest.raises(OSError, match=f"this is a pipe.*/dev/fd/{ends[0]}"):
        read(Path(f"/dev/fd/{ends[0]}"))
    for end in ends:
        os.close(end)
