"""Renders templates, with strict handling of undefined variables."""

import contextlib
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.accounts.viewer import Identity
from vocboard.app.pages import formats, untrusted_markdown, wording
from vocboard.app.pages.covers import cover
from vocboard.app.pages.filters import address_with
from vocboard.app.pages.forms import DONE, FormErrors
from vocboard.app.submissions import queries
from vocboard.app.submissions import quota as quota_rule
from vocboard.app.submissions.forms import format_number
from vocboard.app.web.csrf import csrf_token
from vocboard.app.web.guides import address_of_problem
from vocboard.app.web.identity import current_identity
from vocboard.app.web.problem_details import ProblemDetails
from vocboard.evaluator.problems import counted
from vocboard.evaluator.tasks.definitions import PARTIAL_ENTRIES, TASKS
from vocboard.evaluator.version import VERSION

STATIC_DIRECTORY = Path(__file__).parents[1] / "static"
TEMPLATE_DIRECTORY = Path(__file__).parents[2] / "templates"
THEME_COOKIE = "vocboard_theme"
# Pages of visitors who are about to sign in.
NOT_GONE_BACK_TO = re.compile("/confirm|/(forgotten-password|register)(/sent)?|/reset-password|/sign-in(/code|/new)?")
MAX_ADDRESS_LENGTH = 1000  # characters
THEMES = frozenset({"light", "dark"})


def render(
    request: Request,
    template: str,
    *,
    status: int = 200,
    errors: FormErrors | None = None,
    here: str | None = None,
    **context: Any,
) -> HTMLResponse:
    """Return a page.

    Args:
        status: of the response, unless there are `errors`.
        errors: of the page's form: its status, and the variables `wrong` and `message` of the template.
        here: the address to which signing in and registering lead back; by default, that of the page. Pages that are
            cached for everybody must give it, because it is part of them.
        context: variables of the template, in addition to those of every page.
    """
    if errors is not None:
        status = errors.status
        context |= {"wrong": errors.wrong, "message": errors.message}
    identity: Identity = getattr(request.state, "identity", Identity())
    page = (
        environment()
        .get_template(template)
        .render(
            request=request,
            path=request.url.path,
            identity=identity,
            csrf_token=lambda: csrf_token(request),
            theme=theme_of(request),
            back_here=_back(_address(request) if here is None else here),
            done=DONE.get(request.query_params.get("done", "")),
            **context,
        )
    )
    return HTMLResponse(page, status)


def _address(request: Request) -> str:
    """Return the address of a page without the message after a form; empty for pages to which nobody goes back."""
    if request.method not in {"GET", "HEAD"} or NOT_GONE_BACK_TO.fullmatch(request.url.path):
        return ""
    fields = [(name, value) for name, value in parse_qsl(request.url.query) if name != "done"]
    address = request.url.path + (f"?{urlencode(fields)}" if fields else "")
    return address if len(address) <= MAX_ADDRESS_LENGTH else request.url.path


def _back(address: str) -> str:
    """Return the query with which the sign-in page and the registration lead back to an address."""
    return "" if address in {"", "/"} else "?" + urlencode({"next": address})


def theme_of(request: Request) -> str | None:
    """Return the colour theme that the user has chosen, if any."""
    theme = request.cookies.get(THEME_COOKIE)
    return theme if theme in THEMES else None


async def error_page(request: Request, details: ProblemDetails) -> HTMLResponse:
    """Return an error as a page, which knows who is signed in, also where no handler has asked for it."""
    if not hasattr(request.state, "identity"):
        with contextlib.suppress(SQLAlchemyError):  # an error of the database is to be shown, not to be caused again
            await current_identity(request)
    response = await run_in_threadpool(render, request, "error.html", status=details.status, details=details)
    response.headers.update(details.headers)
    return response


@cache
def environment() -> Environment:
    """Return the template environment."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATE_DIRECTORY),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update({function.__name__: function for function in (*formats.FILTERS, *wording.FILTERS)})
    templates.filters.update(
        declared_number=format_number,
        markdown=untrusted_markdown.rendered,
        phase_of=queries.phase_of,
        phase_title=queries.phase_title_of,
    )
    templates.globals.update(
        address_with=address_with,
        asset=asset,
        cover=cover,
        plural=formats.plural,
        counted=counted,
        quota_rule=quota_rule.sentence,
        words=wording,
        version=VERSION,
        problem_page=address_of_problem,
        task_definitions=TASKS,
        partial_entries=PARTIAL_ENTRIES,
    )
    templates.globals["parts"] = templates.get_template("parts.html").module
    return templates


@cache
def asset(name: str) -> str:
    """Return the URL of a static file, with a content hash so that browsers never use outdated versions."""
    digest = sha256((STATIC_DIRECTORY / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"
