"""The REST API: parse, call one service function, answer."""

from fastapi import APIRouter

router = APIRouter(prefix="/api/v1")
