"""Renders templates, with strict handling of undefined variables."""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from vocboard.app.guides.documents import address_of_problem
from vocboard.app.pages import formats, wording
from vocboard.app.quotas import sentences as quota_sentences
from vocboard.app.web.csrf import csrf_token
from vocboard.app.web.problem_details import ProblemDetails
from vocboard.app.web.viewer import Identity
from vocboard.evaluator.tasks.definitions import PARTIAL_ENTRIES, TASKS
from vocboard.evaluator.version import VERSION

STATIC_DIRECTORY = Path(__file__).parents[1] / "static"
TEMPLATE_DIRECTORY = Path(__file__).parents[2] / "templates"
THEME_COOKIE = "vocboard_theme"
THEMES = frozenset({"light", "dark"})


def render(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Return a page.

    Args:
        context: variables of the template, in addition to those of every page.
    """
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
            done=wording.DONE.get(request.query_params.get("done", "")),
            **context,
        )
    )
    return HTMLResponse(page, status)


def theme_of(request: Request) -> str | None:
    """Return the colour theme that the user has chosen, if any."""
    theme = request.cookies.get(THEME_COOKIE)
    return theme if theme in THEMES else None


def error_page(request: Request, details: ProblemDetails) -> HTMLResponse:
    """Return an error as a page."""
    response = render(request, "error.html", status=details.status, details=details)
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
    templates.filters.update(
        percent=formats.percent,
        signed_percent=formats.signed_percent,
        bar_length=formats.bar_length,
        instant=formats.instant,
        deadline=formats.deadline,
        date_field=formats.date_field,
        file_size=formats.file_size,
        duration=formats.duration,
        count=formats.count,
        ordinal=formats.ordinal,
        time_until=formats.time_until,
        paragraphs=formats.paragraphs,
        browser_name=formats.browser_name,
        heat=formats.heat,
        svg_points=formats.svg_points,
        metric_title=wording.metric_title,
        short_metric=wording.short_metric,
        competition_title=wording.competition_title,
        board_title=wording.board_title,
        task_title=wording.task_title,
        short_task_title=wording.short_task_title,
    )
    templates.globals.update(
        asset=asset, plural=formats.plural, quota_rule=quota_sentences.rule, words=wording, version=VERSION
    )
    templates.globals.update(problem_page=address_of_problem)
    templates.globals.update(task_definitions=TASKS, partial_entries=PARTIAL_ENTRIES)
    return templates


@cache
def asset(name: str) -> str:
    """Return the URL of a static file, with a content hash so that browsers never use outdated versions."""
    digest = sha256((STATIC_DIRECTORY / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"
