"""Detects the actual type of a file with unexpected content."""

from vocboard.evaluator.problems import quoted

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "is a PNG image"),
    (b"\xff\xd8\xff", "is a JPEG image"),
    (b"GIF8", "is a GIF image"),
    (b"BM", "is a BMP image"),
    (b"II*\0", "is a TIFF image"),
    (b"MM\0*", "is a TIFF image"),
    (b"\x1f\x8b", "is compressed with gzip"),
    (b"BZh", "is compressed with bzip2"),
    (b"\xfd7zXZ\0", "is compressed with xz"),
    (b"(\xb5/\xfd", "is compressed with zstd"),
    (b"\x1f\x9d", "is compressed with compress"),
    (b"PK\x03\x04", "is a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive"),
    (b"Rar!\x1a\x07", "is a RAR archive"),
    (b"\x93NUMPY", "is a NumPy array"),
    (b"%PDF", "is a PDF document"),
    (b"\x89HDF", "is an HDF5 (or MATLAB 7.3) file"),
    (b"MATLAB", "is a MATLAB file"),
)


_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"(\xb5/\xfd", b"\x1f\x9d", b"PK\x03\x04", b"7z\xbc\xaf", b"Rar!")
_TAR_MAGIC = slice(257, 262)


def packed_as(head: bytes) -> str | None:
    """Describe the archive or compression format of a file, as a predicate; None if there is none.

    Args:
        head: first 512 bytes of the file.

    >>> packed_as(b"\\x1f\\x8b\\x08"), packed_as(b"2008_000001 0.5\\n")
    ('is compressed with gzip', None)
    """
    if head[_TAR_MAGIC] == b"ustar":
        return "is a tar archive"
    return describe(head) if head.startswith(_PACKED) else None


def describe(head: bytes) -> str:
    """Say what a file looks like from its first bytes, as the predicate of a sentence.

    >>> describe(b"2008_000001 0.5\\n")
    "begins with the text '2008_000001 0.5'"
    >>> describe(b"")
    'is empty'
    """
    if not head:
        return "is empty"
    for signature, text in _SIGNATURES:
        if head.startswith(signature):
            return text
    first_line = head[:200].split(b"\n")[0].strip()
    try:
        text = first_line.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text and text.isprintable():
        return f"begins with the text {quoted(text, 40)}"
    return f"begins with the bytes {head[:8].hex(' ')}"
