"""The API documentation: the OpenAPI document, and Swagger UI served under our own security policy."""

from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute

from vocboard.app.web.problem_details import MEDIA_TYPE

router = APIRouter(include_in_schema=False)

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>REST API – vocboard</title>
<link rel="icon" type="image/svg+xml" href="/static/brand.svg">
<link rel="stylesheet" href="/static/vendor/swagger-ui/swagger-ui.css">
<link rel="stylesheet" href="/static/css/tokens.css">
<link rel="stylesheet" href="/static/css/api-docs.css">
<script src="/static/vendor/swagger-ui/swagger-ui-bundle.js" defer></script>
<script src="/static/js/api-docs.js" defer></script>
</head>
<body>
<nav aria-label="Main">
<a href="/"><img src="/static/brand.svg" alt=""> vocboard</a> <a href="/docs">Documentation</a>
</nav>
<noscript><p>This page needs JavaScript. Without it, read the <a href="{document}">OpenAPI document</a>.</p></noscript>
<main id="operations" data-document="{document}"></main>
</body>
</html>
"""


@router.get("/api/docs")
def documentation(request: Request) -> HTMLResponse:
    """Interactive documentation of all API operations."""
    return HTMLResponse(_PAGE.format(document=request.app.openapi_url))


def operation_name(route: APIRoute) -> str:
    """Return an operation's id in the document, used by generated clients: the handler's name."""
    return route.name


def install(application: FastAPI) -> None:
    """Describe error responses as problem details in the OpenAPI document."""
    plain = application.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        for operations in document["paths"].values():
            for operation in operations.values():
                for status, response in operation["responses"].items():
                    if status >= "4" and MEDIA_TYPE in response.get("content", {}):
                        response["content"] = {MEDIA_TYPE: response["content"][MEDIA_TYPE]}
        return document

    application.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it
