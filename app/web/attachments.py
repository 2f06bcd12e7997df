"""Responses that browsers save as a file."""

import base64
from urllib.parse import quote

from starlette.responses import StreamingResponse

from vocboard.app.submissions.downloading import Download
from vocboard.app.transfer.exporting import Export


def attachment(found: Download) -> StreamingResponse:
    """Return the response that sends an archive.

    Source: RFC 6266 and RFC 8187 for names of any characters, RFC 9530 for the digest.
    """
    digest = base64.b64encode(bytes.fromhex(found.sha256)).decode()
    return StreamingResponse(
        found.chunks,
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}",
            "Content-Length": str(found.size),
            "Repr-Digest": f"sha-256=:{digest}:",
        },
    )


def exported_challenge(found: Export, slug: str) -> StreamingResponse:
    """Return the response that sends an exported challenge."""
    headers = {"Content-Disposition": f'attachment; filename="{slug}.vocboard.tar"', "Content-Length": str(found.size)}
    return StreamingResponse(found.stream(), media_type="application/x-tar", headers=headers)
