"""Answers that are sent many times: compressed once, and not sent at all to who has them already.

Only for what holds no secret: compression tells the length of a secret to who chooses the text beside it (BREACH).
"""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from starlette.requests import Request
from starlette.responses import Response

LEVEL = 6  # of gzip; 9 takes twice as long for one part in a hundred
KEPT_BUT_ASKED_FOR = "private, no-cache"  # by browsers alone, which ask each time whether it is still so


@dataclass(frozen=True, slots=True)
class Rendering:
    """A body in the two codings that it is sent in.

    Attributes:
        tag: its entity tag, a weak one because it is the same for both codings.
    """

    media_type: str
    plain: bytes
    compressed: bytes
    tag: str

    @classmethod
    def of(cls, plain: bytes, media_type: str) -> Self:
        """Return a body, compressed too."""
        tag = f'W/"{hashlib.sha256(plain).hexdigest()[:32]}"'
        return cls(media_type, plain, gzip.compress(plain, LEVEL, mtime=0), tag)

    def __len__(self) -> int:
        """How many bytes it takes."""
        return len(self.plain) + len(self.compressed)


def answer(request: Request, rendering: Rendering, headers: Mapping[str, str]) -> Response:
    """Answer with a rendering, compressed if the client takes that, or with 304 if it has the same.

    Args:
        headers: of the response, besides those that follow from the rendering.
    """
    vary = ", ".join(filter(None, (headers.get("Vary"), "Accept-Encoding")))
    given = {**headers, "Vary": vary, "ETag": rendering.tag}
    if _has(request.headers.get("if-none-match", ""), rendering.tag):
        return Response(status_code=304, headers=given)
    body = rendering.plain
    if _takes_gzip(request.headers.get("accept-encoding", "")):
        given["Content-Encoding"], body = "gzip", rendering.compressed
    return Response(body, headers=given, media_type=rendering.media_type)


def _has(if_none_match: str, tag: str) -> bool:
    """Whether the client says that it has what a tag stands for; strong and weak tags are compared as weak ones.

    Source: RFC 9110, section 13.1.2.
    """
    opaque = tag.removeprefix("W/")
    return any(one.strip().removeprefix("W/") in {opaque, "*"} for one in if_none_match.split(","))


def _takes_gzip(accept_encoding: str) -> bool:
    """Whether the client takes gzip, which it has to name.

    Source: RFC 9110, section 12.5.3.

    >>> [_takes_gzip(header) for header in ("gzip, br", "br;q=1.0, GZIP;q=0.5", "gzip;q=0", "identity", "")]
    [True, True, False, False, False]
    """
    for part in accept_encoding.lower().split(","):
        coding, _, parameter = part.partition(";")
        if coding.strip() in {"gzip", "x-gzip"}:
            return parameter.strip() not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False
