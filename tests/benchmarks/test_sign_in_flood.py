"""A second of each kind of wrong passwords, half of them on each set-up: others are signed in meanwhile."""

from pathlib import Path

import pytest

from benchmarks.sign_in_flood import floods, run


@pytest.mark.parametrize(
    ("real", "kinds"),
    [(False, [0, 2]), pytest.param(True, [1, 3], marks=pytest.mark.services)],
    ids=["embedded", "real"],
)
def test_people_sign_in_while_others_try_passwords(tmp_path: Path, real: bool, kinds: list[int]) -> None:
    outcome = run(tmp_path, seconds=1, warming_seconds=0.2, real=real, connections=10, kinds=kinds)
    assert set(outcome.busy) == {floods()[kind].name for kind in kinds}
    for times, answers in outcome.busy.values():
        assert times.sign_in, "each was answered with the page that follows, or this would have failed"
        assert times.page
        assert set(answers) == {401}
