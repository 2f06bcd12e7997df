"""A few seconds of abuse: others are served, and the disk grows by no more than is documented."""

import io
import tarfile
from pathlib import Path

from benchmarks.abuse import ignored_members, run


def test_others_are_scored_while_one_person_does_their_worst(tmp_path: Path) -> None:
    outcome = run(tmp_path, seconds=4, scale=0.02, embedded=True, steps_aside=False, warming=0, idle_uploads=1)
    assert outcome.busy, "each of these was scored, or this would have failed"
    assert 0 <= outcome.grown <= outcome.budget
    kinds = {answer.partition(":")[0] for answer in outcome.answers}
    assert {"full_of_ignored_members", "accepted_and_withdrawn", "sign_in"} <= kinds
    assert not any(answer.endswith(": 500") for answer in outcome.answers), outcome.answers


def test_the_archive_that_is_full_of_ignored_members_is_one() -> None:
    with tarfile.open(fileobj=io.BytesIO(ignored_members(1_100))) as archive:
        assert archive.getnames() == [f"__MACOSX/{number}" for number in range(1_100)]
