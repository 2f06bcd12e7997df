"""An interrupted upload continues where it was. `python -m benchmarks.interrupted` does the same with 500 MiB."""

import shutil
from pathlib import Path

import pytest

from benchmarks.interrupted import run
from benchmarks.running import MIB


@pytest.mark.parametrize(
    "embedded",
    [
        True,
        pytest.param(
            False,
            marks=[
                pytest.mark.services,
                pytest.mark.skipif(shutil.which("caddy") is None, reason="no Caddy: install the package caddy"),
            ],
        ),
    ],
    ids=["embedded", "behind the proxy"],
)
def test_an_interrupted_upload_continues_where_it_was(embedded: bool, tmp_path: Path) -> None:
    outcome = run(tmp_path, byte_count=26 * MIB, embedded=embedded)
    assert [each.name for each in outcome.interruptions] == [
        "client killed",
        "connection reset",
        "web processes killed",
    ]
    assert not outcome.problems, "\n".join(outcome.rows())
