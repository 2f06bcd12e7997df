"""Answers as servers give them, for tests without one."""

from typing import Any


def make_answer(state: str, queue_position: int | None = None, **given: Any) -> dict[str, Any]:
    """Make the answer to `GET /submissions/7`."""
    return {
        "id": "7",
        "challenge": "voc",
        "state": state,
        "method_name": "m",
        "entered": {"comp4": ["car"]},
        "created_at": "2026-11-20T10:00:00Z",
        "published_at": None,
        "queue_position": queue_position,
        "failure": None,
        "warnings": [],
        "competitions": {},
        **given,
    }
