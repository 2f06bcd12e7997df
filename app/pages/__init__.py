"""The web pages. Handlers parse a form, call one service, and render a template."""

from fastapi import FastAPI

from vocboard.app.pages import (
    account,
    admin,
    announcements,
    challenges,
    comparison,
    embedding,
    guides,
    home,
    leaderboards,
    leaving,
    machine_readable,
    methods,
    notifications,
    organise,
    participation,
    providers,
    second_factor,
    server_terms,
    signing_in,
    submissions,
    submit,
    taking_part,
    teams,
    webhooks,
)

# Routes are tried in this order: what is requested most comes first.
_PARTS = (
    leaderboards,
    comparison,
    participation,
    embedding,
    challenges,
    announcements,
    home,
    signing_in,
    submit,
    submissions,
    methods,
    teams,
    taking_part,
    machine_readable,
    account,
    providers,
    second_factor,
    server_terms,
    notifications,
    leaving,
    webhooks,
    organise,
    admin,
    guides,
)


def install(application: FastAPI) -> None:
    """Add the pages to an application: one by one, since a router of routers costs time at each request."""
    for part in _PARTS:
        application.include_router(part.router, include_in_schema=False)
