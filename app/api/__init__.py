"""The REST API: parse, call one service function, answer."""

from fastapi import APIRouter

from app.api import accounts, challenges, events, ground_truth, leaderboards, submission_changes, submissions
from app.api.problems import problem_responses

router = APIRouter(prefix="/api/v1", responses=problem_responses(422))
for _part in (challenges, submissions, submission_changes, events, leaderboards, ground_truth, accounts):
    router.include_router(_part.router)
