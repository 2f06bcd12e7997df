"""Checksums put right, so that mutations of what they protect get past them."""

import struct
import zlib

_BLOCK = 512
_CHECKSUM = slice(148, 156)
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def with_tar_checksums(data: bytes) -> bytes:
    """Give every block that looks like a tar header, by `ustar` or by its place, the checksum it should have."""
    out = bytearray(data)
    place = 0
    while place + _BLOCK <= len(out):
        block = out[place : place + _BLOCK]
        if any(block):
            block[_CHECKSUM] = b" " * 8
            out[place + 148 : place + 156] = f"{sum(block):06o}\0 ".encode()
        try:
            size = int(bytes(block[124:135]).strip(b" \0") or b"0", 8)
        except ValueError:
            size = 0
        place += _BLOCK + -(-max(size, 0) // _BLOCK) * _BLOCK
    return bytes(out)


def with_png_checksums(data: bytes, *, deflate: bool) -> bytes:
    """Give every chunk the length that is left at most, and its checksum.

    Args:
        data: a PNG, more or less.
        deflate: take what is in IDAT for what should be packed there.
    """
    out = [_SIGNATURE]
    place = len(_SIGNATURE)
    while place + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        content = data[place + 8 : place + 8 + length]
        place += 12 + len(content)
        if kind == b"IDAT" and deflate:
            content = zlib.compress(content, 1)
        out.append(struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content)))
    return b"".join(out)
