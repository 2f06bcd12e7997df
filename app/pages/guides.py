"""The documentation: the documents of docs/, with their pictures and examples."""

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from starlette.responses import RedirectResponse, Response

from vocboard.app.errors import NotFoundError
from vocboard.app.guides.documents import GROUPS, MEDIA_TYPES, PREFIX, documents, files
from vocboard.app.guides.markdown import Document, document
from vocboard.app.pages.rendering import render
from vocboard.app.web.identity import CurrentIdentity

router = APIRouter()
KEPT_AN_HOUR = "public, max-age=3600"  # pictures
OTHERS = "Reference"  # documents that are in no group


@router.get("/docs")
def list_of_guides(request: Request, _: CurrentIdentity) -> Response:
    """List all documents."""
    return render(request, "guides.html", groups=_groups())


@router.get("/docs/{path:path}")
def guide(request: Request, _: CurrentIdentity, path: str) -> Response:
    """One document, or a file that a document shows."""
    name = path.strip("/")
    if name in documents():
        return render(request, "guide.html", guide=document(name))
    if (file := files().get(name)) is not None:
        return FileResponse(file, media_type=MEDIA_TYPES[file.suffix], headers={"Cache-Control": KEPT_AN_HOUR})
    if name.removesuffix(".md") in documents():
        return RedirectResponse(f"{PREFIX}/{name.removesuffix('.md')}", 308)
    raise NotFoundError("This document does not exist. The list of all documents is at /docs.")


def _groups() -> list[tuple[str, list[tuple[Document, str]]]]:
    groups = [(title, [(document(name), text) for name, text in listed.items()]) for title, listed in GROUPS.items()]
    listed = {name for names in GROUPS.values() for name in names}
    others = sorted((document(name) for name in documents() if name not in listed), key=lambda each: each.title)
    return [*groups, (OTHERS, [(each, "") for each in others])]
