"""The pages of the API's documentation: Swagger UI, served from here and under our own content security policy."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>REST API – vocboard</title>
<link rel="stylesheet" href="/static/vendor/swagger-ui/swagger-ui.css">
<script src="/static/vendor/swagger-ui/swagger-ui-bundle.js" defer></script>
<script src="/static/js/api-docs.js" defer></script>
</head>
<body>
<noscript><p>This page needs JavaScript; the same as a document: <a href="{document}">OpenAPI</a>.</p></noscript>
<main id="operations" data-document="{document}"></main>
</body>
</html>
"""


@router.get("/api/docs")
def documentation(request: Request) -> HTMLResponse:
    """All operations of the API, to read and to try."""
    return HTMLResponse(_PAGE.format(document=request.app.openapi_url))
