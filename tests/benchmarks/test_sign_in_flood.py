"""A second of each kind of wrong passwords: others are signed in meanwhile, on both set-ups."""

from pathlib import Path

import pytest

from benchmarks.sign_in_flood import floods, run


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.services)])
def test_people_sign_in_while_others_try_passwords(tmp_path: Path, real: bool) -> None:
    outcome = run(tmp_path, seconds=1, warming_seconds=0.2, real=real, connections=10)
    assert set(outcome.busy) == {flood.name for flood in floods()}
    for times, answers in outcome.busy.values():
        assert times.sign_in, "each was answered with the page that follows, or this would have failed"
        assert times.page
        assert set(answers) == {401}
