"""The web pages. Handlers parse a form, call one service, and render a template."""

from fastapi import APIRouter

from vocboard.app.pages import (
    account,
    anonymous,
    challenges,
    comparison,
    declarations,
    embedding,
    forgotten_password,
    guides,
    home,
    leaderboards,
    methods,
    moderation,
    organise,
    participation,
    registering,
    signing_in,
    submissions,
    submit,
)

router = APIRouter(include_in_schema=False)
# Routes are tried in this order: what is requested most comes first.
_PARTS = (
    leaderboards,
    comparison,
    participation,
    embedding,
    challenges,
    home,
    signing_in,
    registering,
    forgotten_password,
    submit,
    submissions,
    declarations,
    methods,
    moderation,
    anonymous,
    account,
    organise,
    guides,
)
for part in _PARTS:
    router.include_router(part.router)
