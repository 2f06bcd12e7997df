"""Cached responses: compressed once, and 304 if the client has them.

Only use this for responses without secrets, because compression can reveal secrets next to attacker-controlled text
(BREACH).
"""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from starlette.requests import Request
from starlette.responses import Response

LEVEL = 6  # gzip level; 9 takes twice as long to save 1 %
KEPT_BUT_ASKED_FOR = "private, no-cache"  # cached by browsers only, which revalidate each time


@dataclass(frozen=True, slots=True)
class Rendering:
    """A response body, uncompressed and compressed.

    Attributes:
        tag: entity tag; weak, because it is the same for both encodings.
    """

    media_type: str
    plain: bytes
    compressed: bytes
    tag: str

    @classmethod
    def of(cls, plain: bytes, media_type: str) -> Self:
        """Return the rendering of a body."""
        tag = f'W/"{hashlib.sha256(plain).hexdigest()[:32]}"'
        return cls(media_type, plain, gzip.compress(plain, LEVEL, mtime=0), tag)

    def __len__(self) -> int:
        """Size in bytes."""
        return len(self.plain) + len(self.compressed)


def answer(request: Request, rendering: Rendering, headers: Mapping[str, str]) -> Response:
    """Return a response with a rendering, compressed if the client accepts it, or 304 if the client has it.

    Args:
        headers: additional headers.
    """
    vary = ", ".join(filter(None, (headers.get("Vary"), "Accept-Encoding")))
    given = {**headers, "Vary": vary, "ETag": rendering.tag}
    if has_tag(request.headers.get("if-none-match", ""), rendering.tag):
        return Response(status_code=304, headers=given)
    body = rendering.plain
    if _takes_gzip(request.headers.get("accept-encoding", "")):
        given["Content-Encoding"], body = "gzip", rendering.compressed
    return Response(body, headers=given, media_type=rendering.media_type)


def has_tag(if_none_match: str, tag: str) -> bool:
    """Whether the client's If-None-Match contains a tag, by weak comparison.

    Source: RFC 9110, section 13.1.2.
    """
    opaque = tag.removeprefix("W/")
    return any(one.strip().removeprefix("W/") in {opaque, "*"} for one in if_none_match.split(","))


def _takes_gzip(accept_encoding: str) -> bool:
    """Whether the client accepts gzip explicitly.

    Source: RFC 9110, section 12.5.3.

    >>> [_takes_gzip(header) for header in ("gzip, br", "br;q=1.0, GZIP;q=0.5", "gzip;q=0", "identity", "")]
    [True, True, False, False, False]
    """
    for part in accept_encoding.lower().split(","):
        coding, _, parameter = part.partition(";")
        if coding.strip() in {"gzip", "x-gzip"}:
            return parameter.strip() not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False
