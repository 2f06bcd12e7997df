"""The documentation: the documents of docs/, with their pictures and examples."""

from threading import Lock
from typing import Any

from cachetools import LRUCache
from fastapi import Request
from fastapi.responses import FileResponse
from starlette.responses import RedirectResponse, Response

from vocboard.app.accounts.viewer import Identity
from vocboard.app.errors import NotFoundError
from vocboard.app.pages.guide_search import search
from vocboard.app.pages.markdown import Document, document
from vocboard.app.pages.rendering import render, theme_of
from vocboard.app.web.cached_responses import KEPT_BUT_ASKED_FOR, Rendering, answer
from vocboard.app.web.guides import GROUPS, MEDIA_TYPES, PREFIX, documents, files
from vocboard.app.web.identity import CurrentIdentity
from vocboard.app.web.routes import Routes

router = Routes()
KEPT_AN_HOUR = "public, max-age=3600"  # pictures
CACHED_BYTES = 8 * 1024 * 1024  # three times what all documents take
OTHERS = "Reference"  # documents that are in no group


# Pages as visitors see them, by address and theme.
_for_visitors: LRUCache[tuple[str, str | None], Rendering] = LRUCache(CACHED_BYTES, getsizeof=len)
_lock = Lock()  # handlers run in threads


@router.get("/docs")
def list_of_guides(request: Request, identity: CurrentIdentity, q: str = "") -> Response:
    """List all documents, or the sections in which words occur."""
    if q:
        return render(request, "guides.html", here=PREFIX, wanted=q, found=search(q))
    return _page(request, identity, PREFIX, "guides.html", groups=_groups(), wanted="")


@router.get("/docs/{path:path}")
def guide(request: Request, identity: CurrentIdentity, path: str) -> Response:
    """One document, or a file that a document shows."""
    name = path.strip("/")
    if name in documents():
        return _page(request, identity, f"{PREFIX}/{name}", "guide.html", guide=document(name))
    if (file := files().get(name)) is not None:
        return FileResponse(file, media_type=MEDIA_TYPES[file.suffix], headers={"Cache-Control": KEPT_AN_HOUR})
    if name.removesuffix(".md") in documents():
        return RedirectResponse(f"{PREFIX}/{name.removesuffix('.md')}", 308)
    raise NotFoundError("This document does not exist. The list of all documents is at /docs.")


@router.get("/api/docs")
def documentation_of_the_api(request: Request) -> Response:
    """Interactive documentation of all API operations."""
    return render(request, "api.html")


def _page(request: Request, identity: Identity, address: str, template: str, **context: Any) -> Response:
    """Return a page. Visitors share one, compressed; those of users have their token for forms."""
    if identity.user is not None or "done" in request.query_params:
        return render(request, template, here=address, **context)
    key = (address, theme_of(request))
    with _lock:
        rendering = _for_visitors.get(key)
    if rendering is None:
        rendering = Rendering.of(bytes(render(request, template, here=address, **context).body), "text/html")
        with _lock:
            _for_visitors[key] = rendering
    return answer(request, rendering, {"Cache-Control": KEPT_BUT_ASKED_FOR})


def _groups() -> list[tuple[str, list[tuple[Document, str]]]]:
    groups = [(title, [(document(name), text) for name, text in listed.items()]) for title, listed in GROUPS.items()]
    listed = {name for names in GROUPS.values() for name in names}
    others = sorted((document(name) for name in documents() if name not in listed), key=lambda each: each.title)
    return [*groups, (OTHERS, [(each, "") for each in others])]
