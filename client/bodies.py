"""Reads the bodies of responses that are kept in memory."""

import httpx

from vocboard.client.errors import UnexpectedAnswerError

MAX_BYTES = 256 * 1024**2  # of JSON and other text, decompressed; files are read in pieces
_ENCODING_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})  # not of decoded bytes


def whole(answer: httpx.Response, address: str) -> httpx.Response:
    """Read a response that is being received, and return it with its decoded body.

    Args:
        address: of the server, for messages.

    Raises:
        UnexpectedAnswerError: it is larger than any of a vocboard server; the rest is not read.
        httpx.RequestError: the connection was lost.
    """
    content = bytearray()
    for piece in answer.iter_bytes():
        content += piece
        if len(content) > MAX_BYTES:
            raise UnexpectedAnswerError(f"{address} sends more than any vocboard server; check the address")
    headers = [(name, value) for name, value in answer.headers.multi_items() if name not in _ENCODING_HEADERS]
    return httpx.Response(answer.status_code, headers=headers, content=bytes(content), request=answer.request)
