"""A few seconds of abuse, crowds, floods and interruptions, as the benchmarks make for longer: others are served."""

import io
import shutil
import tarfile
from pathlib import Path

import pytest

from benchmarks import abuse, crowd, interrupted, sign_in_flood
from benchmarks.running import MIB


def test_others_are_scored_while_one_person_does_their_worst(tmp_path: Path) -> None:
    outcome = abuse.run(tmp_path, seconds=2, scale=0.02, embedded=True, steps_aside=False, warming=0, idle_uploads=1)
    assert outcome.busy, "each of these was scored, or this would have failed"
    assert 0 <= outcome.grown <= outcome.budget
    kinds = {answer.partition(":")[0] for answer in outcome.answers}
    assert {"full_of_ignored_members", "accepted_and_withdrawn", "sign_in"} <= kinds
    assert not any(answer.endswith(": 500") for answer in outcome.answers), outcome.answers


def test_the_archive_that_is_full_of_ignored_members_is_one() -> None:
    with tarfile.open(fileobj=io.BytesIO(abuse.ignored_members(1_100))) as archive:
        assert archive.getnames() == [f"__MACOSX/{number}" for number in range(1_100)]


def test_small_uploads_pass_a_crowd_of_slow_and_large_ones(tmp_path: Path) -> None:
    outcome = crowd.run(tmp_path, seconds=1, embedded=True, idle_uploads=1, scale=0.02)
    assert outcome.busy
    assert outcome.refused == 0
    assert not any(answer.endswith(": 500") for answer in outcome.answers), outcome.answers


def test_people_sign_in_while_others_try_passwords(tmp_path: Path) -> None:
    outcome = sign_in_flood.run(tmp_path, seconds=0.5, warming_seconds=0.2, connections=10)
    assert set(outcome.busy) == {flood.name for flood in sign_in_flood.floods()}
    for times, answers in outcome.busy.values():
        assert times.sign_in, "each was answered with the page that follows, or this would have failed"
        assert times.page
        assert set(answers) == {401}


@pytest.mark.services
def test_an_interrupted_upload_continues_where_it_was(tmp_path: Path) -> None:
    """Behind the proxy, if there is one on this machine."""
    outcome = interrupted.run(tmp_path, byte_count=26 * MIB, embedded=shutil.which("caddy") is None)
    assert [each.name for each in outcome.interruptions] == [
        "client killed",
        "connection reset",
        "web processes killed",
    ]
    assert not outcome.problems, "\n".join(outcome.rows())
