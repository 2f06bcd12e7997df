"""The REST API: parse, call one service function, answer."""

from fastapi import APIRouter

from app.api import accounts, challenges, events, ground_truth, leaderboards, submissions

router = APIRouter(prefix="/api/v1")
for _part in (challenges, submissions, events, leaderboards, ground_truth, accounts):
    router.include_router(_part.router)
