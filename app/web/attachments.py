"""Responses that browsers save as a file, and files of which parts can be requested."""

import base64
from urllib.parse import quote

from starlette.responses import (
    FileResponse,
    MalformedRangeHeader,
    RangeNotSatisfiable,
    RedirectResponse,
    Response,
    StreamingResponse,
)

from vocboard.app.errors import RangeNotSatisfiableError
from vocboard.app.submissions.downloading import Download
from vocboard.app.transfer.exporting import Export


def attachment(found: Download) -> Response:
    """Return the response that sends an archive, or says where it is.

    Source: RFC 6266 and RFC 8187 for names of any characters.
    """
    if found.link:
        return redirect_to_store(found.link, found.sha256)
    return StreamingResponse(
        found.chunks,
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}",
            "Content-Length": str(found.size),
            **digest(found.sha256),
        },
    )


def redirect_to_store(link: str, sha256: str) -> Response:
    """Return the response that sends a client to the object store, for one download."""
    return RedirectResponse(link, 302, headers={"Cache-Control": "no-store", **digest(sha256)})


def digest(sha256: str) -> dict[str, str]:
    """Return the header with the hash of a file (RFC 9530)."""
    return {"Repr-Digest": f"sha-256=:{base64.b64encode(bytes.fromhex(sha256)).decode()}:"}


def exported_challenge(found: Export, slug: str) -> StreamingResponse:
    """Return the response that sends an exported challenge."""
    headers = {"Content-Disposition": f'attachment; filename="{slug}.vocboard.tar"', "Content-Length": str(found.size)}
    return StreamingResponse(found.stream(), media_type="application/x-tar", headers=headers)


class RangeFileResponse(FileResponse):
    """A file, or the parts of it in `Range`, which is ignored if it is malformed, has another unit, or nothing to take.

    Source: RFC 9110, sections 14.1.2 and 14.2.
    """

    @classmethod
    def _parse_range_header(cls, http_range: str, file_size: int) -> list[tuple[int, int]]:
        """Return the parts as starts and ends; none for the whole file.

        Raises:
            RangeNotSatisfiableError: the file ends before one of them.
        """
        try:
            return super()._parse_range_header(http_range, file_size) if file_size else []
        except MalformedRangeHeader:
            return []
        except RangeNotSatisfiable:
            raise RangeNotSatisfiableError(file_size) from None
