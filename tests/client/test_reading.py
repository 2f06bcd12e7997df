"""Reading responses as dataclasses, of this version's servers and of others."""

from datetime import UTC, datetime
from typing import Any

import pytest

from vocboard.client.answers import understood
from vocboard.client.errors import UnexpectedAnswerError
from vocboard.client.webhooks import Webhook, delivery, webhook

DELIVERY = {
    "id": "7",
    "created_at": "2026-11-20T10:00:00Z",
    "event": "submission.scored",
    "delivered": False,
    "ended_at": None,
    "attempts": 2,
    "status": 500,
    "error": None,
    "content": "{}",
}


def test_fields_are_read_as_their_types_say_and_unknown_ones_are_ignored() -> None:
    found = understood(delivery, {**DELIVERY, "of_a_later_version": 1})
    assert found.created_at == datetime(2026, 11, 20, 10, tzinfo=UTC)
    assert (found.delivered, found.ended_at, found.attempts, found.status) == (False, None, 2, 500)
    assert found.error is None


def test_a_field_with_a_default_may_be_missing() -> None:
    answer = {"id": "7", "url": "https://example.org", "events": ["submission.scored"], "off_because": None}
    assert webhook(answer) == Webhook("7", "https://example.org", ("submission.scored",), None, None)


@pytest.mark.parametrize(
    "answer",
    [{}, [], None, "text", {**DELIVERY, "attempts": None}, {**DELIVERY, "created_at": 7}, {**DELIVERY, "status": "x"}],
)
def test_what_lacks_a_field_or_has_a_wrong_one_is_not_understood(answer: Any) -> None:
    with pytest.raises(UnexpectedAnswerError):
        understood(delivery, answer)
