"""Archives made to harm are stopped by their first dangerous part."""

import gzip
import io
import os
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.evaluator.uploads import Content, add, directory, tar, zipped
from vocboard.evaluator.archives import UPLOAD_LIMITS, ArchiveError, ArchiveLimits, members
from vocboard.evaluator.problems import Problem

SMALL = ArchiveLimits(members=10, member_bytes=1_000, total_bytes=50_000, ratio=200)
Pack = Callable[[Path, Content], Path]
MIB = 1024 * 1024
EARLY = ArchiveLimits(ratio_from_bytes=MIB)


def refused(path: Path, limits: ArchiveLimits = UPLOAD_LIMITS) -> tuple[list[str], list[str]]:
    """Names that came through, and codes of the problems; the last may have ended the reading."""
    problems: list[Problem] = []
    names = []
    try:
        for member in members(path, limits, problems.append):
            member.read()
            names.append(member.name)
    except ArchiveError as error:
        problems.append(error.problem)
    return names, [problem.code for problem in problems]


def tar_with(path: Path, *headers: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for header in headers:
            archive.addfile(header, io.BytesIO(b"\0" * header.size))
        add(archive, "good.txt", "good")
    return path


def header(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, size
    return made


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_tar_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    path = tar_with(tmp_path / "a.tar.gz", header("evil", kind, "/etc/passwd"))
    assert refused(path) == (["good.txt"], ["not_a_regular_file"])


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../outside.txt", "results/../../outside.txt", "C:/Windows/evil.txt", "a\nb.txt", "x" * 1_500],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    assert refused(tar_with(tmp_path / "a.tar.gz", header(name))) == (["good.txt"], ["unsafe_name"])
    assert refused(zipped(tmp_path / "a.zip", {name: b"", "good.txt": b""})) == (["good.txt"], ["unsafe_name"])


def test_windows_separators_in_zip_do_not_hide_a_way_up(tmp_path: Path) -> None:
    assert refused(zipped(tmp_path / "a.zip", {"..\\outside.txt": b""})) == ([], ["unsafe_name"])


def test_old_gnu_sparse_file_is_refused_and_what_follows_read(tmp_path: Path) -> None:
    sparse = header("sparse", tarfile.GNUTYPE_SPARSE, size=512)
    assert refused(tar_with(tmp_path / "a.tar.gz", sparse)) == (["good.txt"], ["not_a_regular_file"])


def test_pax_sparse_file_is_refused(tmp_path: Path) -> None:
    sparse = header("sparse", size=512)
    sparse.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(2**40)}
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(sparse, io.BytesIO(b"\0" * 512))
    assert refused(tmp_path / "a.tar") == ([], ["not_a_regular_file"])


def test_one_name_twice_is_one_problem_and_the_first_counts(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        add(archive, "a.txt", "first")
        add(archive, "./a.txt", "second")
    assert refused(tmp_path / "a.tar.gz") == (["a.txt"], ["duplicate_file"])


def test_too_many_members_end_the_reading(tmp_path: Path) -> None:
    content = {f"{number}.txt": b"" for number in range(11)}
    assert refused(tar(tmp_path / "a.tar.gz", content), SMALL)[1] == ["too_many_members"]
    assert refused(zipped(tmp_path / "a.zip", content), SMALL)[1] == ["too_many_members"]
    assert refused(directory(tmp_path / "a", content), SMALL)[1] == ["too_many_members"]


def test_zip_directory_of_a_million_names_is_refused_before_it_is_read(tmp_path: Path) -> None:
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65_535, 65_535, 90_000_000, 0, 0)
    (tmp_path / "a.zip").write_bytes(b"PK\3\4" + b"\0" * 100 + end)
    assert refused(tmp_path / "a.zip", SMALL) == ([], ["too_many_members"])


def test_a_member_too_large_is_left_out_and_the_rest_read(tmp_path: Path) -> None:
    content = {"large.txt": b"x" * 1_001, "good.txt": bytes(range(250)) * 4}
    for path in (
        tar(tmp_path / "a.tar.gz", content),
        zipped(tmp_path / "a.zip", content),
        directory(tmp_path / "a", content),
    ):
        assert refused(path, SMALL) == (["good.txt"], ["member_too_large"])


def test_too_much_in_all_ends_the_reading(tmp_path: Path) -> None:
    content = {f"{number}.txt": os.urandom(900) for number in range(9)}
    limits = ArchiveLimits(total_bytes=5_000)
    assert refused(tar(tmp_path / "a.tar", content, "w"), limits)[1] == ["archive_too_large"]
    assert refused(zipped(tmp_path / "a.zip", content), limits)[1] == ["archive_too_large"]


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_bomb_is_stopped_by_its_ratio(tmp_path: Path, mode: str) -> None:
    bomb = tar(tmp_path / "bomb", {"zeros.txt": b"\0" * (4 * MIB)}, mode)
    assert refused(bomb, EARLY) == ([], ["compression_ratio"])


def test_a_zip_bomb_is_stopped_by_its_ratio(tmp_path: Path) -> None:
    assert refused(zipped(tmp_path / "bomb.zip", {"zeros.txt": b"\0" * (4 * MIB)}), EARLY) == (
        [],
        ["compression_ratio"],
    )


def test_a_bomb_in_a_file_that_is_passed_over_is_stopped_too(tmp_path: Path) -> None:
    path = tar_with(tmp_path / "bomb.tar.gz", header("../zeros", size=4 * MIB))
    assert refused(path, EARLY) == ([], ["unsafe_name", "compression_ratio"])


def test_an_extended_header_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    extended = header("pax", tarfile.XHDTYPE)
    extended.size = 3 * 1024 * MIB
    (tmp_path / "a.tar").write_bytes(extended.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1024)
    assert refused(tmp_path / "a.tar") == ([], ["damaged_archive"])


@pytest.mark.parametrize("record", [b"999 path=x\n", b"11 size=-1\n", b"0 a=b\n", b"5 a=b", b"x"])
def test_a_contradictory_extended_header_is_damage(tmp_path: Path, record: bytes) -> None:
    extended = header("pax", tarfile.XHDTYPE)
    extended.size = len(record)
    data = extended.tobuf(tarfile.USTAR_FORMAT) + record.ljust(512, b"\0") + header("a").tobuf() + b"\0" * 1024
    (tmp_path / "a.tar").write_bytes(data)
    assert refused(tmp_path / "a.tar") == ([], ["damaged_archive"])


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("part", [0.3, 0.7, 0.95])
def test_a_tar_cut_short_is_damage_wherever_it_is_cut(tmp_path: Path, mode: str, part: float) -> None:
    whole = tar(tmp_path / "whole", {f"{number}.txt": os.urandom(3_000) for number in range(9)}, mode).read_bytes()
    (tmp_path / "cut").write_bytes(whole[: int(len(whole) * part)] if mode != "w" else whole[: int(30_000 * part)])
    assert refused(tmp_path / "cut")[1] == ["damaged_archive"]


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(tar(tmp_path / "a.tar", {"a.txt": os.urandom(5_000)}, "w").read_bytes(), 0))
    whole[2_000] ^= 0xFF
    (tmp_path / "a.tar.gz").write_bytes(whole)
    assert refused(tmp_path / "a.tar.gz")[1] == ["damaged_archive"]


@pytest.mark.parametrize("part", [0.3, 0.95])
def test_a_zip_cut_short_is_damage(tmp_path: Path, part: float) -> None:
    whole = zipped(tmp_path / "whole.zip", {"a.txt": os.urandom(3_000)}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: int(len(whole) * part)])
    assert refused(tmp_path / "cut.zip") == ([], ["damaged_archive"])


@pytest.mark.parametrize("claimed", [10, 4_000])
def test_a_zip_that_lies_about_a_size_is_damage(tmp_path: Path, claimed: int) -> None:
    data = bytearray(zipped(tmp_path / "a.zip", {"a.txt": b"x" * 3_000}).read_bytes())
    place = data.rindex(b"PK\1\2")
    data[place + 24 : place + 28] = struct.pack("<L", claimed)
    (tmp_path / "a.zip").write_bytes(data)
    assert refused(tmp_path / "a.zip") == ([], ["damaged_archive"])


def test_links_encryption_and_rare_methods_in_zip_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("rare.txt", "x", compress_type=zipfile.ZIP_LZMA)
        archive.writestr("secret.txt", "x")
    data = bytearray((tmp_path / "a.zip").read_bytes())
    data[data.rindex(b"PK\1\2") + 8] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    codes = ["not_a_regular_file", "unsupported_compression", "encrypted_member"]
    assert refused(tmp_path / "a.zip") == ([], codes)


def test_links_in_a_directory_are_refused_not_followed(tmp_path: Path) -> None:
    root = directory(tmp_path / "results", {"good.txt": b""})
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe")
    assert refused(root) == (["good.txt"], ["not_a_regular_file"] * 3)


def test_an_archive_in_an_archive_is_a_file_like_any_other(tmp_path: Path) -> None:
    inner = tar(tmp_path / "inner.tar.gz", {"a.txt": b""}).read_bytes()
    assert refused(tar(tmp_path / "outer.tar.gz", {"inner.tar.gz": inner})) == (["inner.tar.gz"], [])


@pytest.mark.parametrize("pack", [tar, zipped])
def test_what_operating_systems_add_is_limited_in_number(tmp_path: Path, pack: Pack) -> None:
    path = pack(tmp_path / "a", {f"__MACOSX/{number}": b"" for number in range(4)} | {"good.txt": b"good"})
    assert refused(path, ArchiveLimits(ignored_members=4)) == (["good.txt"], ["ignored_files"])
    assert refused(path, ArchiveLimits(ignored_members=3)) == ([], ["too_much_ignored"])


@pytest.mark.parametrize("pack", [tar, zipped])
def test_what_operating_systems_add_is_limited_in_size(tmp_path: Path, pack: Pack) -> None:
    path = pack(tmp_path / "a", {"__MACOSX/a": bytes(600), "._b": bytes(600), "good.txt": b"good"})
    assert refused(path, ArchiveLimits(ignored_bytes=1200)) == (["good.txt"], ["ignored_files"])
    assert refused(path, ArchiveLimits(ignored_bytes=1199)) == ([], ["too_much_ignored"])


def test_a_gigabyte_of_additions_is_not_unpacked(tmp_path: Path) -> None:
    """It ends at the header of the member that is too much, before a byte of it is unpacked: here none follows."""
    path = tmp_path / "a.tar"
    with path.open("wb") as file:
        file.write(header("__MACOSX/large", size=500 * MIB).tobuf(tarfile.PAX_FORMAT))
    assert refused(path) == ([], ["too_much_ignored"])


def test_what_is_unpacked_only_to_get_past_it_is_limited(tmp_path: Path) -> None:
    links = [header(f"large{number}", b"V", size=100 * 1024) for number in range(3)]
    path = tar_with(tmp_path / "a.tar.gz", *links)
    limits = ArchiveLimits(unread_bytes=300 * 1024, ratio=10_000)
    assert refused(path, limits)[0] == ["good.txt"]
    names, codes = refused(path, ArchiveLimits(unread_bytes=250 * 1024, ratio=10_000))
    assert names == []
    assert codes[-1] == "unread_content_too_large"
