"""Tar archives: links, devices, names, extended headers, damage."""

import bz2
import gzip
import tarfile
import zlib

from tests.hostile.cases.case import Cases, accepted, rejected
from tests.hostile.cases.packing import (
    BLOCK,
    DETECTIONS,
    END,
    GOOD,
    MIB,
    entry,
    good,
    gz,
    pax,
    record,
    tar,
    xz,
)

_WHOLE = tar(good(), entry("results/VOC2012/Main/comp3_det_test_dog.txt", GOOD * 100))
_LONG = "results/" + "long/" * 40 + "comp3_det_test_car.txt"


def _long_name(name: bytes, kind: bytes = b"L") -> bytes:
    return entry("././@LongLink", name + b"\0", kind)


def _sparse() -> bytes:
    header = bytearray(entry("sparse.txt", kind=tarfile.GNUTYPE_SPARSE, size=BLOCK))
    header[386:410] = b"00000000000\0" + b"00000001000\0"  # one piece: its place and size
    header[483:495] = b"77777777777\0"  # eight gigabytes, it says
    return _with_checksum(bytes(header)) + b"x" * BLOCK


def _with_checksum(header: bytes) -> bytes:
    blank = header[:148] + b" " * 8 + header[156:]
    return header[:148] + f"{sum(blank[:BLOCK]):06o}\0 ".encode() + header[156:]


def _negative_size() -> bytes:
    header = bytearray(entry(DETECTIONS))
    header[124:136] = b"\xff" * 12  # base 256, minus one
    return _with_checksum(bytes(header))


def cases() -> Cases:
    """All of them."""
    yield from _links_and_names()
    yield from _extended_headers()
    yield from _damage()
    yield from _compressions()


def _links_and_names() -> Cases:
    kinds = {
        "symbolic-link": (tarfile.SYMTYPE, "a symbolic link to /etc/passwd"),
        "hard-link": (tarfile.LNKTYPE, "a hard link to /etc/passwd"),
        "character-device": (tarfile.CHRTYPE, "a character device"),
        "block-device": (tarfile.BLKTYPE, "a block device"),
        "named-pipe": (tarfile.FIFOTYPE, "a named pipe"),
        "unknown-type": (b"Z", "a member of a type that does not exist"),
    }
    for name, (kind, about) in kinds.items():
        special = entry("results/special.txt", kind=kind, linkname="/etc/passwd")
        yield rejected(
            f"tar-{name}.tar.gz", about, lambda special=special: gz(tar(special, good())), "not_a_regular_file"
        )
    link = entry(DETECTIONS, kind=tarfile.SYMTYPE, linkname="../../../../etc/passwd")
    yield rejected(
        "tar-link-then-file-of-its-name.tar.gz",
        "a symbolic link, then a file of the same name, to be written through the link",
        lambda: gz(tar(link, good())),
        "not_a_regular_file",
    )
    yield rejected("tar-sparse.tar", "a GNU sparse file of 8 GiB", lambda: tar(_sparse(), good()), "not_a_regular_file")
    names = {
        "absolute": "/etc/cron.d/vocboard",
        "upwards": "results/../../../outside.txt",
        "drive": "C:/Windows/System32/vocboard.txt",
        "drive-with-backslashes": "C:\\Windows\\vocboard.txt",
        "upwards-with-backslashes": "results\\..\\..\\outside.txt",
        "network-share": "\\\\server\\share\\results.txt",
        "newline": "results/a\nb.txt",
        "escape-codes": "results/\x1b[2J.txt",
        "right-to-left-mark": "results/\u202etxt.exe",
    }
    for name, path in names.items():
        made = entry(path, GOOD)
        about = f"a member called {path!r}"
        yield rejected(f"tar-name-{name}.tar.gz", about, lambda made=made: gz(tar(made, good())), "unsafe_name")
    latin = entry("r?sum?.txt").replace(b"r?sum?.txt", b"r\xe9sum\xe9.txt")
    latin = _with_checksum(latin)
    yield rejected("tar-name-latin-1.tar", "a name in Latin-1", lambda: tar(latin, good()), "unsafe_name")
    yield rejected(
        "tar-repeated-name.tar.gz", "one name twice", lambda: gz(tar(good(), good(f"./{DETECTIONS}"))), "duplicate_file"
    )
    windows = entry(DETECTIONS.replace("/", "\\"), GOOD)
    yield accepted(
        "tar-backslashes.tar.gz", "a name with backslashes", lambda: gz(tar(windows)), "backslashes_in_names"
    )
    mac = [
        entry(name, b"\0\5\x16\7") for name in ("results/._VOC2012", "results/VOC2012/Main/._comp3_det_test_car.txt")
    ]
    yield accepted(
        "tar-macos.tar.gz",
        "resource forks, .DS_Store and __MACOSX as macOS packs them",
        lambda: gz(tar(*mac, entry("results/.DS_Store", b"Bud1"), entry("__MACOSX/._a", b""), good())),
        "ignored_files",
    )
    folders = [entry(name, kind=tarfile.DIRTYPE) for name in ("./", "results/", "results/VOC2012/")]
    yield accepted("tar-directories.tar.gz", "directories beside files", lambda: gz(tar(*folders, good())))


def _extended_headers() -> Cases:
    yield accepted("tar-gnu-long-name.tar.gz", "a GNU long name", lambda: gz(tar(_long_name(_LONG.encode()), good())))
    yield accepted(
        "tar-pax-name.tar.gz", "a name in a PAX header", lambda: gz(tar(pax(record("path", _LONG)), good("short")))
    )
    yield accepted(
        "tar-pax-global.tar.gz",
        "a global PAX header, as `git archive` writes it",
        lambda: gz(tar(pax(record("comment", "c0ffee"), tarfile.XGLTYPE), good())),
    )
    for kind, make in (
        ("gnu", lambda name: _long_name(name.encode())),
        ("pax", lambda name: pax(record("path", name))),
    ):
        outside = make("../../outside.txt")
        yield rejected(
            f"tar-{kind}-name-upwards.tar.gz",
            f"a {kind.upper()} long name that leads upwards, of a member with a harmless one",
            lambda outside=outside: gz(tar(outside, good("harmless.txt"), good())),
            "unsafe_name",
        )
        endless = make("x" * 60_000)
        yield rejected(
            f"tar-{kind}-name-of-60000-characters.tar.gz",
            f"a {kind.upper()} long name of 60,000 characters",
            lambda endless=endless: gz(tar(endless, good("harmless.txt"), good())),
            "unsafe_name",
        )
    wrong = {
        "pax-huge": (entry("pax", b"", tarfile.XHDTYPE, size=3 * 1024 * MIB), "a PAX header of 3 GiB"),
        "gnu-name-huge": (entry("name", b"", b"L", size=3 * 1024 * MIB), "a GNU long name of 3 GiB"),
        "pax-negative-length": (pax(b"-5 path=x\n"), "a PAX record of negative length"),
        "pax-length-beyond": (pax(b"999 path=x\n"), "a PAX record longer than its header"),
        "pax-no-equals": (pax(b"9 path x\n"), "a PAX record without ="),
        "pax-size-negative": (pax(record("size", "-1")), "a PAX header that gives a size of -1"),
        "pax-size-words": (pax(record("size", "many")), "a PAX header that gives its size in words"),
        "negative-size": (_negative_size(), "a member of a negative size"),
    }
    for name, (header, about) in wrong.items():
        yield rejected(f"tar-{name}.tar", about, lambda header=header: tar(header, good()), "damaged_archive")
    sparse = pax(record("GNU.sparse.major", "1") + record("GNU.sparse.realsize", str(2**40)))
    yield rejected(
        "tar-pax-sparse.tar.gz",
        "a sparse file by PAX, of a terabyte",
        lambda: gz(tar(sparse, good("a"), good())),
        "not_a_regular_file",
    )
    large = pax(record("size", str(2**40)))
    yield rejected(
        "tar-pax-size-terabyte.tar.gz",
        "a PAX header that makes a file of a terabyte out of a small one",
        lambda: gz(tar(large, good("a.txt"))),
        "unread_content_too_large",
        "member_too_large",
    )
    chain = _long_name(b"nowhere.txt") * 200
    yield accepted(
        "tar-gnu-names-in-a-row.tar.gz",
        "200 long names, the last of which counts",
        lambda: gz(tar(chain, _long_name(DETECTIONS.encode()), good("x"))),
    )


def _damage() -> Cases:
    cut = {
        "header": _WHOLE[:300],
        "between-header-and-content": _WHOLE[:BLOCK],
        "content": _WHOLE[: 3 * BLOCK + 100],
        "padding": _WHOLE[: BLOCK + len(GOOD) + 10],
        "end": _WHOLE[: -len(END)],
    }
    for name, data in cut.items():
        codes = ("not_an_archive",) if name == "header" else ("damaged_archive",)
        yield rejected(f"tar-cut-in-{name}.tar", f"a tar archive cut short: {name}", lambda data=data: data, *codes)
    yield rejected(
        "tar-wrong-checksum.tar",
        "a second header with a wrong checksum",
        lambda: tar(good(), entry("b.txt").replace(b"b.txt", b"c.txt")),
        "damaged_archive",
    )
    yield accepted(
        "tar-one-empty-block-at-the-end.tar",
        "one empty block at the end instead of two",
        lambda: tar(good(), end=b"\0" * BLOCK),
    )
    yield accepted(
        "tar-trailing-zeros.tar", "zeros after the end, as tape blocks have them", lambda: tar(good(), end=END * 10)
    )
    yield accepted("tar-trailing-garbage.tar", "something else after the end", lambda: tar(good()) + b"garbage " * 100)
    yield accepted(
        "tar-appended.tar",
        "a second archive after the end of the first, which tar does not read",
        lambda: tar(good()) + tar(link_outside()),
    )
    yield rejected("not-an-archive-empty.tar.gz", "an empty file", lambda: b"", "not_an_archive")
    yield rejected("not-an-archive-text.tgz", "a text file called .tgz", lambda: GOOD, "not_an_archive")
    yield rejected(
        "not-an-archive-zeros.tar", "a block of zeros: an archive of nothing", lambda: END, "no_result_files"
    )
    yield rejected(
        "not-an-archive-html.tar.gz", "the page of an error", lambda: b"<!DOCTYPE html><p>502", "not_an_archive"
    )
    yield rejected(
        "not-an-archive-7z.zip", "a 7z archive", lambda: b"7z\xbc\xaf\x27\x1c" + b"\0" * 50, "not_an_archive"
    )
    yield rejected(
        "not-an-archive-zstd.tar.gz", "compressed with zstd", lambda: b"(\xb5/\xfd" + b"\0" * 50, "not_an_archive"
    )


def link_outside() -> bytes:
    """A symbolic link that leads out."""
    return entry("link", kind=tarfile.SYMTYPE, linkname="/etc/passwd")


def _compressions() -> Cases:
    packers = {"gz": gz, "bz2": bz2.compress, "xz": xz}
    for name, pack in packers.items():
        whole = pack(_WHOLE)
        yield accepted(f"compressed.tar.{name}", f"a tar archive compressed with {name}", lambda whole=whole: whole)
        yield rejected(
            f"cut.tar.{name}", "cut short", lambda whole=whole: whole[: len(whole) * 2 // 3], *_CODES_OF_CUT[name]
        )
        yield rejected(f"header-only.tar.{name}", "ten bytes", lambda whole=whole: whole[:10], "damaged_archive")
        half = len(_WHOLE) // 2
        streams = pack(_WHOLE[:half]) + pack(_WHOLE[half:])
        yield accepted(
            f"two-streams.tar.{name}", "two compressed streams, one after the other", lambda streams=streams: streams
        )
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 0x55
        yield rejected(
            f"flipped-bit.tar.{name}", "a byte changed", lambda flipped=flipped: bytes(flipped), *_CODES_OF_FLIP[name]
        )
        garbage = whole + b"garbage"
        yield (
            rejected(
                f"trailing-garbage.tar.{name}",
                "something after the end",
                lambda garbage=garbage: garbage,
                "damaged_archive",
            )
            if name != "bz2"
            else accepted(
                f"trailing-garbage.tar.{name}",
                "something after the end, which bzip2 passes over",
                lambda garbage=garbage: garbage,
            )
        )
        yield rejected(
            f"twice-compressed.tar.{name}",
            "compressed twice",
            lambda whole=whole, pack=pack: pack(whole),
            "not_an_archive",
        )
    wrong = bytearray(gz(_WHOLE))
    wrong[-8:-4] = zlib.crc32(b"something else").to_bytes(4, "little")
    yield rejected("wrong-checksum.tar.gz", "a wrong checksum at the end", lambda: bytes(wrong), "damaged_archive")
    named = gzip.compress(_WHOLE, mtime=0)
    named = named[:3] + b"\x08" + named[4:10] + b"../../outside.tar\0" + named[10:]
    yield accepted("gzip-name-upwards.tar.gz", "gzip's own file name leads upwards; nobody reads it", lambda: named)


_CODES_OF_CUT = {"gz": ("damaged_archive",), "bz2": ("damaged_archive",), "xz": ("damaged_archive",)}
_CODES_OF_FLIP = {"gz": ("damaged_archive",), "bz2": ("damaged_archive",), "xz": ("damaged_archive",)}
