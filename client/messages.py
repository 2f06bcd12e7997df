"""Announcements, questions and notifications, in answers of the API."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vocboard.client.reading import read


@dataclass(frozen=True, slots=True)
class Announcement:
    """An announcement of a challenge's organisers."""

    id: str
    created_at: datetime
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the organisers of a challenge.

    Attributes:
        answer: None if there is none yet.
        is_public: whether everyone who sees the challenge sees question and answer.
        asked_by: name of the person, for organisers; otherwise None.
    """

    id: str
    created_at: datetime
    text: str
    answer: str | None
    is_public: bool
    asked_by: str | None


@dataclass(frozen=True, slots=True)
class Notification:
    """Something that the user was told; `link` is a path on the server, and `read_at` None if it is unread."""

    id: str
    created_at: datetime
    kind: str
    title: str
    text: str
    link: str
    read_at: datetime | None


def announcement(answer: Mapping[str, Any]) -> Announcement:
    """Read an announcement."""
    return read(Announcement, answer)


def question(answer: Mapping[str, Any]) -> Question:
    """Read a question."""
    return read(Question, answer, is_public=bool(answer["public"]))


def notification(answer: Mapping[str, Any]) -> Notification:
    """Read a notification."""
    return read(Notification, answer)
