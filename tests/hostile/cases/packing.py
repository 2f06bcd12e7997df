"""Archives built by hand, where the ordinary libraries are too well-behaved."""

import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping

BLOCK = 512
MIB = 1024 * 1024
END = b"\0" * (2 * BLOCK)

DETECTIONS = "results/VOC2012/Main/comp3_det_test_car.txt"
GOOD = b"000001 0.9 1 1 4 4\n000002 0.5 2 2 6 5\n"

Content = Mapping[str, bytes]


def entry(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, **changed: object) -> bytes:
    """One member of a tar archive: header, content, padding. `changed` sets fields of its `TarInfo`."""
    header = tarfile.TarInfo(name)
    header.type, header.size = kind, len(data)
    for field, value in changed.items():
        setattr(header, field, value)
    return header.tobuf(tarfile.GNU_FORMAT) + data + b"\0" * (-len(data) % BLOCK)


def tar(*entries: bytes, end: bytes = END) -> bytes:
    """Members, and the two empty blocks at the end."""
    return b"".join(entries) + end


def good(name: str = DETECTIONS) -> bytes:
    """A member that is a valid detection file."""
    return entry(name, GOOD)


def gz(data: bytes) -> bytes:
    """Compress with gzip, always to the same bytes."""
    return gzip.compress(data, mtime=0)


def xz(data: bytes) -> bytes:
    """Compress with xz."""
    return lzma.compress(data, preset=1)


def packed(content: Content) -> bytes:
    """A .tar.gz of files."""
    return gz(tar(*(entry(name, data) for name, data in content.items())))


def pax(data: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    """An extended header for the member that follows."""
    return entry("pax", data, kind)


def record(key: str, value: str) -> bytes:
    """A record of an extended header, beginning with its own length."""
    text = f" {key}={value}\n".encode()
    length = len(text) + 1
    while len(str(length)) + len(text) != length:
        length = len(str(length)) + len(text)
    return str(length).encode() + text


def zipped(content: Content, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive of files, always the same bytes."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, data in content.items():
            archive.writestr(zip_entry(name), data, compress_type=method)
    return output.getvalue()


def zip_entry(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    """A member of a zip archive as Unix makes it."""
    info = zipfile.ZipInfo(name, date_time=(2012, 1, 1, 0, 0, 0))
    info.create_system, info.external_attr = 3, mode << 16
    return info


def with_directory_field(archive: bytes, offset: int, value: bytes) -> bytes:
    """Change a field of the last entry of a zip's directory; offsets count from its signature `PK 1 2`."""
    place = archive.rindex(b"PK\1\2") + offset
    return archive[:place] + value + archive[place + len(value) :]


def with_end_field(archive: bytes, offset: int, value: bytes) -> bytes:
    """Change a field of a zip's end record; offsets count from its signature `PK 5 6`."""
    place = archive.rindex(b"PK\5\6") + offset
    return archive[:place] + value + archive[place + len(value) :]


def chunk(kind: bytes, content: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def zeros_deflated(size: int) -> bytes:
    """So many zeros as a zlib stream."""
    packer = zlib.compressobj(9)
    parts = [packer.compress(b"\0" * MIB) for _ in range(size // MIB)]
    return b"".join(parts) + packer.flush()
