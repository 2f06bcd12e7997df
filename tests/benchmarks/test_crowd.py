"""Some seconds in a crowd that holds all the places that it gets: nobody else is refused."""

from pathlib import Path

from benchmarks.crowd import run


def test_small_uploads_pass_a_crowd_of_slow_and_large_ones(tmp_path: Path) -> None:
    outcome = run(tmp_path, seconds=4, embedded=True, idle_uploads=1)
    assert outcome.busy
    assert outcome.refused == 0
    assert "slow: 429" in outcome.answers, "all places of new accounts were held"
    assert not any(answer.endswith(": 500") for answer in outcome.answers), outcome.answers
