"""Small archives that unpack to much."""

import bz2
import lzma
import struct
import tarfile
import zipfile
import zlib
from io import BytesIO

from tests.hostile.cases.case import Cases, accepted, rejected
from tests.hostile.cases.packing import (
    DETECTIONS,
    END,
    GOOD,
    MIB,
    entry,
    good,
    gz,
    packed,
    tar,
    xz,
    zip_entry,
    zipped,
)

_LAYOUTS = "results/VOC2012/Layout/comp7_layout_test.xml"
_BOMB_BYTES = 96 * MIB  # past where the ratio counts


def _zeros(header: bytes) -> bytes:
    return header + b"\0" * _BOMB_BYTES + END


def _bomb(name: str = DETECTIONS) -> bytes:
    return _zeros(entry(name, size=_BOMB_BYTES))


def _bzip2_bomb() -> bytes:
    """Many equal streams of a few bytes each."""
    stream = bz2.compress(b"\0" * (8 * MIB))
    return bz2.compress(entry(DETECTIONS, size=_BOMB_BYTES)) + stream * 12 + bz2.compress(END)


def _zip_of(data: bytes, copies: int) -> bytes:
    """A zip archive whose directory names the same packed bytes many times."""
    one = zipped({"0000.txt": data})
    start, end = one.index(b"PK\1\2"), one.index(b"PK\5\6")
    record = one[start:end]
    directory = b"".join(record.replace(b"0000", f"{number:04}".encode()) for number in range(copies))
    return one[:start] + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, copies, copies, len(directory), start, 0)


def _xz_with_dictionary(size: int) -> bytes:
    return lzma.compress(tar(good()), filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": size}])


def _many(number: int) -> bytes:
    member = entry("x")
    return tar(*(member.replace(b"x", b"y", 0) for _ in range(number)))


def cases() -> Cases:
    """All of them."""
    yield rejected("bomb.tar.gz", "96 MiB of zeros in a result file", lambda: gz(_bomb()), "compression_ratio")
    yield rejected("bomb.tar.xz", "96 MiB of zeros in a result file", lambda: xz(_bomb()), "compression_ratio")
    yield rejected("bomb.tar.bz2", "96 MiB of zeros in a result file", _bzip2_bomb, "compression_ratio")
    yield rejected(
        "bomb.zip",
        "96 MiB of zeros in a result file",
        lambda: zipped({DETECTIONS: b"\0" * _BOMB_BYTES}),
        "compression_ratio",
    )
    yield rejected(
        "bomb-in-passed-over-file.tar.xz",
        "96 MiB of zeros in a file whose name is refused",
        lambda: xz(_bomb("../zeros")),
        "compression_ratio",
        "unsafe_name",
    )
    yield rejected(
        "bomb-in-ignored-file.tar.xz",
        "96 MiB of zeros in a file that is passed over",
        lambda: xz(_bomb("results/.DS_Store")),
        "too_much_ignored",
    )
    yield rejected(
        "bomb-after-the-end.tar.xz",
        "96 MiB of zeros after the end of the archive",
        lambda: xz(tar(good()) + b"\0" * _BOMB_BYTES),
        "compression_ratio",
    )
    yield rejected(
        "bomb-before-a-header.tar.xz",
        "96 MiB of zeros in place of an archive",
        lambda: xz(b"\0" * _BOMB_BYTES),
        "compression_ratio",
    )
    yield rejected("bomb-in-bomb.tar.gz", "a bomb, compressed once more", lambda: gz(gz(_bomb())), "not_an_archive")
    yield rejected(
        "bomb-in-archive.tar.gz",
        "a bomb among the files, which is not unpacked",
        lambda: packed({"results.tar.xz": xz(_bomb()), DETECTIONS: GOOD}),
        "nested_archive",
    )
    yield rejected(
        "bomb-of-shared-bytes.zip",
        "2,000 files of one mebibyte that share their packed bytes",
        lambda: _zip_of(b"\0" * MIB, 2_000),
        "damaged_archive",
    )
    yield rejected("bomb-quine.gz", "gzip in gzip in gzip", lambda: gz(gz(gz(tar(good())))), "not_an_archive")
    yield accepted(
        "bomb-in-deflate-after-size.zip",
        "a file that unpacks to far more than the directory says; what is beyond is never unpacked",
        _beyond_size,
    )
    yield rejected(
        "bomb-memory.tar.xz", "a dictionary of a gibibyte", lambda: _xz_header_with_dictionary(30), "damaged_archive"
    )
    yield accepted(
        "dictionary-64-mib.tar.xz", "a dictionary of 64 MiB, as `xz -9` writes", lambda: _xz_with_dictionary(64 * MIB)
    )
    yield rejected(
        "bomb-of-members.tar.xz",
        "100,001 empty files",
        lambda: xz(_many(100_001)),
        "too_many_members",
        "duplicate_file",
        "more_problems",
    )
    yield rejected(
        "bomb-of-lines.tar.xz",
        "ten million and one line ends in a result file",
        lambda: xz(tar(entry(DETECTIONS, b"\n" * 10_000_001))),
        "too_many_lines",
    )
    yield rejected(
        "bomb-of-wrong-lines.tar.xz",
        "two million lines, all wrong",
        lambda: xz(tar(entry(DETECTIONS, b"x\n" * 2_000_000))),
        "wrong_number_of_fields",
        "more_problems",
        "reading_stopped",
    )
    yield rejected(
        "bomb-of-wrong-layouts.tar.xz",
        "six million empty layouts",
        lambda: xz(tar(entry(_LAYOUTS, b"<results>" + b"<layout/>\n" * 6_000_000 + b"</results>"))),
        "missing_element",
        "more_problems",
        "reading_stopped",
    )
    yield rejected(
        "line-of-10-mb.tar.xz",
        "one line of ten million characters",
        lambda: xz(tar(entry(DETECTIONS, b"1" * 10_000_000))),
        "line_too_long",
    )
    yield rejected(
        "line-of-10-mb-of-spaces.tar.xz",
        "one line of ten million characters, most of them spaces",
        lambda: xz(tar(entry(DETECTIONS, b"1" + b" " * 10_000_000 + b"1\n"))),
        "line_too_long",
    )
    yield rejected(
        "fields-of-10-mb.tar.xz",
        "one line of five million fields",
        lambda: xz(tar(entry(DETECTIONS, b"1 " * 5_000_000))),
        "line_too_long",
    )
    yield rejected(
        "detections-in-one-image.tar.xz",
        "10,001 detections in one image",
        lambda: xz(tar(entry(DETECTIONS, b"000001 0.5 1 1 2 2\n" * 10_001))),
        "too_many_detections",
    )
    yield rejected(
        "files-that-are-no-results.tar.xz",
        "30 files that are not result files beside one that is",
        lambda: xz(tar(good(), *(entry(f"notes{number}.txt") for number in range(30)))),
        "unknown_file",
        "more_problems",
    )
    yield rejected(
        "directories-nested-200-deep.tar.gz",
        "directories 200 deep",
        lambda: gz(
            tar(entry("d/" * 400 + "a.txt"[:0] + "a", kind=tarfile.DIRTYPE), entry("d/" * 400 + "note"), good())
        ),
        "unknown_file",
    )


def _beyond_size() -> bytes:
    output = BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zip_entry(DETECTIONS), GOOD + b"\0" * (8 * MIB), zipfile.ZIP_DEFLATED)
    data = bytearray(output.getvalue())
    place = data.rindex(b"PK\1\2")
    data[place + 24 : place + 28] = struct.pack("<L", len(GOOD))
    data[place + 16 : place + 20] = struct.pack("<L", zlib.crc32(GOOD))
    return bytes(data)


def _xz_header_with_dictionary(bits: int) -> bytes:
    """Claim a dictionary of 2 ** `bits` bytes in the header of the first block."""
    data = bytearray(_xz_with_dictionary(64 * MIB))
    block = 12  # after the stream's header
    length = (data[block] + 1) * 4
    place = data.index(b"\x21\x01", block, block + length) + 2
    data[place] = (bits - 12) * 2
    data[block + length - 4 : block + length] = struct.pack("<L", zlib.crc32(data[block : block + length - 4]))
    return bytes(data)
