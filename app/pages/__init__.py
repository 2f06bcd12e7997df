"""Pages for people: handlers only translate between forms, one call of a service, and a template."""

from fastapi import APIRouter

from app.pages import account, anonymous, challenges, leaderboards, organise, signing_in, submissions, submit

router = APIRouter(include_in_schema=False)
for part in (leaderboards, challenges, signing_in, submit, submissions, anonymous, account, organise):
    router.include_router(part.router)
