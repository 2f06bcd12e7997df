"""Concurrent changes of submissions never wait for each other in a deadlock; see `tests.deadlocks`."""

import pytest

from tests.deadlocks import run


@pytest.mark.services
def test_moderation_workers_and_owners_at_random_end_in_no_deadlock(postgres_url: str) -> None:
    outcome = run(postgres_url, seconds=4)
    assert outcome.errors == []
    assert outcome.done["moderate"]
    assert outcome.done["sweep"]
