"""Zip archives: lies, links, rare methods, damage."""

import io
import stat
import struct
import zipfile

from tests.hostile.cases.case import Cases, accepted, rejected
from tests.hostile.cases.packing import (
    DETECTIONS,
    GOOD,
    packed,
    with_directory_field,
    with_end_field,
    zip_entry,
    zipped,
)

_WHOLE = zipped({DETECTIONS: GOOD})
_STORED = zipped({DETECTIONS: GOOD}, zipfile.ZIP_STORED)


def cases() -> Cases:
    """All of them."""
    yield accepted("zip-deflated.zip", "an ordinary zip archive", lambda: _WHOLE)
    yield accepted("zip-stored.zip", "stored, not compressed", lambda: _STORED)
    yield accepted(
        "zip-comment.zip", "with a comment after the end", lambda: with_end_field(_WHOLE, 20, b"\5\0") + b"hello"
    )
    yield accepted("zip-self-extracting.zip", "something between the first file and the directory's start", _padded)
    yield accepted(
        "zip-backslashes.zip",
        "names with backslashes",
        lambda: zipped({DETECTIONS.replace("/", "\\"): GOOD}),
        "backslashes_in_names",
    )
    yield accepted(
        "zip-macos.zip",
        "as the Finder packs",
        lambda: zipped({DETECTIONS: GOOD, "__MACOSX/._results": b"\0"}),
        "ignored_files",
    )
    yield from _names_and_kinds()
    yield from _lies()
    yield from _damage()


def _padded() -> bytes:
    # Offsets of the directory then are off by the same number, which readers of zip make up for.
    place = _WHOLE.index(b"PK\1\2")
    return _WHOLE[:place] + b"\0" * 16 + _WHOLE[place:-6] + struct.pack("<L", place + 16) + _WHOLE[-2:]


def _names_and_kinds() -> Cases:
    names = {
        "absolute": "/etc/cron.d/vocboard",
        "upwards": "results/../../outside.txt",
        "upwards-with-backslashes": "results\\..\\..\\outside.txt",
        "drive": "C:\\outside.txt",
    }
    for name, path in names.items():
        made = zipped({path: GOOD, DETECTIONS: GOOD})
        yield rejected(f"zip-name-{name}.zip", f"a file called {path!r}", lambda made=made: made, "unsafe_name")
    latin = zipped({"r\u00e9sum\u00e9.txt": b"", DETECTIONS: GOOD})
    broken = latin.replace("\u00e9".encode(), b"\xe9\xe9")
    yield rejected(
        "zip-name-not-utf8.zip", "a name that claims to be UTF-8 and is not", lambda: broken, "damaged_archive"
    )
    kinds = {"symbolic-link": stat.S_IFLNK, "device": stat.S_IFCHR, "named-pipe": stat.S_IFIFO}
    for name, kind in kinds.items():
        yield rejected(
            f"zip-{name}.zip", f"a {name.replace('-', ' ')}", lambda kind=kind: _special(kind), "not_a_regular_file"
        )
    yield rejected(
        "zip-encrypted.zip", "an encrypted file", lambda: with_directory_field(_WHOLE, 8, b"\1\0"), "encrypted_member"
    )
    for name, method in (("lzma", 14), ("bzip2", 12), ("zstd", 93), ("unknown-method", 999)):
        made = with_directory_field(_WHOLE, 10, struct.pack("<H", method))
        yield rejected(
            f"zip-{name}.zip", f"packed by method {method}", lambda made=made: made, "unsupported_compression"
        )
    twice = zipped({DETECTIONS: GOOD, DETECTIONS.replace("car", "cat"): GOOD}).replace(b"_cat.txt", b"_car.txt")
    yield rejected("zip-repeated-name.zip", "one name twice", lambda: twice, "duplicate_file")
    yield rejected(
        "zip-in-tar.tar.gz", "a zip archive in a tar archive", lambda: packed({"results.zip": _WHOLE}), "nested_archive"
    )
    yield rejected("zip-empty.zip", "an archive of nothing", lambda: zipped({}), "no_result_files")


def _special(kind: int) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr(zip_entry("results/special", kind | 0o777), "/etc/passwd")
        archive.writestr(zip_entry(DETECTIONS), GOOD)
    return output.getvalue()


def _lies() -> Cases:
    size, packed_size, crc, offset = 24, 20, 16, 42
    lies = {
        "size-smaller": (size, struct.pack("<L", 5), "a size smaller than the file's"),
        "size-larger": (size, struct.pack("<L", 5_000), "a size larger than the file's"),
        "packed-size-larger": (packed_size, struct.pack("<L", 5_000), "a packed size beyond the archive"),
        "checksum": (crc, b"\0\0\0\0", "a wrong checksum"),
        "offset": (offset, struct.pack("<L", 7), "a place in the middle of something else"),
        "offset-beyond": (offset, struct.pack("<L", 2**31), "a place beyond the archive"),
    }
    for name, (place, value, about) in lies.items():
        made = with_directory_field(_WHOLE, place, value)
        yield rejected(f"zip-lie-{name}.zip", about, lambda made=made: made, "damaged_archive")
    huge = with_directory_field(_WHOLE, size, struct.pack("<L", 600 * 1024 * 1024))
    yield rejected("zip-lie-size-600-mib.zip", "a file of 600 MiB, it says", lambda: huge, "member_too_large")
    names = _WHOLE.replace(DETECTIONS.encode(), DETECTIONS.replace("car", "cat").encode(), 1)
    yield rejected(
        "zip-lie-name.zip", "another name in the file's header than in the directory", lambda: names, "damaged_archive"
    )
    yield rejected(
        "zip-directory-of-90-mib.zip",
        "a directory of 90 MB, it says",
        lambda: with_end_field(_WHOLE, 12, struct.pack("<L", 90_000_000)),
        "too_many_members",
    )
    yield rejected(
        "zip64-without-locator.zip",
        "sizes of zip64, but no zip64 record",
        lambda: with_end_field(_WHOLE, 12, b"\xff" * 8),
        "damaged_archive",
    )
    yield rejected("zip64-lie.zip", "a zip64 record that leads nowhere", _zip64, "damaged_archive")
    extra = zipped({DETECTIONS: GOOD})
    yield rejected(
        "zip64-extra-missing.zip",
        "a size of zip64 without the field for it",
        lambda: with_directory_field(extra, size, b"\xff" * 4),
        "member_too_large",
    )
    yield rejected("zip-overlapping.zip", "forty files of the same packed bytes", _overlapping, "damaged_archive")


def _zip64() -> bytes:
    place = _WHOLE.index(b"PK\5\6")
    record = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 2**40, 2**40, 2**50, 2**60)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, place, 1)
    return _WHOLE[:place] + record + locator + with_end_field(_WHOLE[place:], 12, b"\xff" * 8)


def _overlapping() -> bytes:
    start, end = _WHOLE.index(b"PK\1\2"), _WHOLE.index(b"PK\5\6")
    one = _WHOLE[start:end]
    many = b"".join(one.replace(b"_car.txt", f"_{number:03}.txt".encode()) for number in range(40))
    record = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 41, 41, len(one) + len(many), start, 0)
    return _WHOLE[:start] + one + many + record


def _damage() -> Cases:
    yield rejected("zip-cut-in-file.zip", "cut short within the file", lambda: _WHOLE[:60], "damaged_archive")
    yield rejected(
        "zip-cut-in-directory.zip", "cut short within the directory", lambda: _WHOLE[:-40], "damaged_archive"
    )
    yield rejected("zip-cut-in-end.zip", "cut short within the end record", lambda: _WHOLE[:-5], "damaged_archive")
    yield rejected("zip-signature-only.zip", "four bytes", lambda: b"PK\3\4", "damaged_archive")
    yield accepted("zip-trailing-garbage.zip", "something after the end", lambda: _WHOLE + b"garbage")
    flipped = bytearray(_STORED)
    flipped[len(DETECTIONS) + 35] ^= 0x55
    yield rejected("zip-flipped-bit.zip", "a byte of a stored file changed", lambda: bytes(flipped), "damaged_archive")
