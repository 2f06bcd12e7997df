"""What fuzzing begins with: valid files of every kind, everything in the hostile folder, and words of each format."""

import bz2
import contextlib
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType

from tests.evaluator.uploads import add, label_map
from tests.hostile.folder import uploads
from vocboard.evaluator.archives import UPLOAD_LIMITS, ArchiveError, members

MAX_BYTES = 16 * 1024  # of an input

_BOX = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4.5</ymax></bndbox>"
_PART = f"<part><class>head</class>{_BOX}</part>"
_PERSON = {b"\x80": "<object>1</object>", b"\x81": _BOX}

_SETTINGS = {"_cls_": b"\x80", "_det_": b"\x81", "_action_": b"\x82"}
_TEXTS = {
    b"\x80": "000001 0.5\n000002 -1e-3\r\n000003\t7\n",
    b"\x81": "000001 0.9 1 1 5.5 5\n000002 1e5 -3 2 4 100\n",
    b"\x82": "000001 1 0.5\n000003 2 0.25\n",
    b"\x00": "a 0.5\nb 1_0\n\nc nan\n",
    b"\x01": "a 1 1 1 2 2\nb inf 1 x 1e999 0x1p3\n",
    b"\x02": "a 1 0.5\nb 0 0.5\n",
}


def texts() -> Iterator[bytes]:
    """Text files, valid and not."""
    for setting, text in _TEXTS.items():
        yield setting + text.encode()
        yield setting + b"\xef\xbb\xbf" + text.encode()
    for name, content in _members():
        if name.endswith(".txt"):
            task = next((setting for part, setting in _SETTINGS.items() if part in name), b"\x80")
            yield task + content


def layouts() -> Iterator[bytes]:
    """Layout files, by index and by box."""
    for setting, person in _PERSON.items():
        image = "<image>000001</image>"
        layout = f"<layout>{image}{person}<confidence>0.5</confidence>{_PART}{_PART}</layout>"
        yield setting + f"<results>\n{layout}\n{layout}\n</results>\n".encode()
        yield setting + f'<?xml version="1.0"?><!-- c --><results a="b">{layout}&lt;</results>'.encode()
        yield setting + f'<!DOCTYPE r [<!ENTITY a "b">]><results>&a;{layout}</results>'.encode()
    for name, content in _members():
        if name.endswith(".xml"):
            yield (b"\x81" if "VOC2007" in name else b"\x80") + content


def pngs() -> Iterator[bytes]:
    """Label maps, and PNGs of other kinds."""
    for setting in (b"\x80", b"\x81", b"\x01", b"\x02"):
        for mode in ("P", "L", "RGB", "RGBA", "1", "I;16"):
            yield setting + label_map(mode=mode)
    for name, content in _members():
        if name.endswith(".png"):
            yield b"\x80" + content


def archives() -> Iterator[bytes]:
    """Archives of every kind."""
    files = {
        "results/VOC2012/Main/comp3_det_test_car.txt": b"000001 1 1 1 2 2\n",
        "Main/comp1_cls_test_car.txt": b"000001 1\n",
        "comp7_layout_test.xml": b"<results></results>",
        "comp5_test_cls/000001.png": label_map(),
        "x" * 120 + "/y": b"",
    }
    for layout in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT):
        output = io.BytesIO()
        with tarfile.open(fileobj=output, mode="w", format=layout) as archive:
            for name, content in files.items():
                add(archive, name, content)
        yield b"\0" + output.getvalue()
        yield b"\1" + output.getvalue()
        for compress in (gzip.compress, bz2.compress, lzma.compress):
            yield b"\0" + compress(output.getvalue())
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        output = io.BytesIO()
        with zipfile.ZipFile(output, "w", method) as packed:
            for name, content in files.items():
                packed.writestr(name, content)
        yield b"\0" + output.getvalue()
    for upload in uploads():
        content = upload.path.read_bytes()
        if len(content) < MAX_BYTES:
            yield b"\0" + content
            yield from _uncompressed(content)


def _uncompressed(content: bytes) -> Iterator[bytes]:
    """The tar archive in a .tar.gz, where mutations do more than break the compression."""
    with contextlib.suppress(OSError, EOFError, zlib.error):
        unpacked = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MAX_BYTES)
        if len(unpacked) < MAX_BYTES:
            yield b"\1" + unpacked


@cache
def _members() -> tuple[tuple[str, bytes], ...]:
    """The small files in the archives of the hostile folder, each once."""
    found: dict[bytes, str] = {}
    for upload in uploads():
        if upload.path.name.startswith("bomb"):
            continue  # takes long, and holds nothing of interest
        with contextlib.suppress(ArchiveError):
            for member in members(upload.path, UPLOAD_LIMITS, lambda _: None):
                if member.size < MAX_BYTES:
                    found.setdefault(member.read(), member.name)
    return tuple((name, content) for content, name in found.items())


SEEDS: Mapping[str, Callable[[], Iterator[bytes]]] = MappingProxyType(
    {"archive": archives, "text": texts, "xml": layouts, "png": pngs}
)

WORDS: Mapping[str, tuple[bytes, ...]] = MappingProxyType(
    {
        "archive": (
            b"ustar\x0000",
            b"ustar  \0",
            b"PK\x03\x04",
            b"PK\x01\x02",
            b"PK\x05\x06",
            b"PK\x06\x06",
            b"PK\x06\x07",
            b"../",
            b"C:\\",
            b"11 size=99\n",
            b"12 path=../\n",
            b"22 GNU.sparse.major=1\n",
            b"\xff\xff\xff\xff",
            b"\xfd7zXZ\0",
            b"\x1f\x8b\x08",
            b"BZh9",
        ),
        "text": (
            b"000001",
            b"000003",
            b"nan",
            b"-inf",
            b"1e999",
            b"1e31",
            b"0x1p3",
            b"1_0",
            b"1,5",
            "٣".encode(),
            b"\xef\xbb\xbf",
            b"\r",
            b"\r\n",
            b"\0",
            b"\x0b",
            b"\x1c",
            "\u2028".encode(),
            "\u00a0".encode(),
            b" 1 1 1 2 2\n",
        ),
        "xml": (
            b"<results>",
            b"</results>",
            b"<layout>",
            b"</layout>",
            b"<image>000001</image>",
            b"<object>1</object>",
            b"<confidence>0.5</confidence>",
            _PART.encode(),
            _BOX.encode(),
            b"<!DOCTYPE",
            b"<![CDATA[",
            b"]]>",
            b"<!ENTITY a 'b'>",
            b"&#0;",
            b"&#x110000;",
            b"&amp;",
            b"xmlns:a='b'",
            b"<?xml version='1.0' encoding='utf-16'?>",
            b"\xff\xfe",
        ),
        "png": (b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"acTL", b"fdAT", b"iCCP", b"zTXt", b"\xff\xff\xff\xff"),
    }
)
