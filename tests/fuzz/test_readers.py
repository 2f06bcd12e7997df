"""What holds of every reader whatever it reads: what fuzzing begins with, mutations of it, and anything else."""

import importlib.util
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.readers import READERS
from tests.fuzz.seeds import SEEDS, WORDS

ROOT = Path(__file__).parents[2]
SECONDS = int(os.environ.get("VOCBOARD_FUZZ_SECONDS", "4"))  # a reader


@cache
def seeds(reader: str) -> list[bytes]:
    return list(SEEDS[reader]())


@st.composite
def mutations(draw: st.DrawFn, reader: str) -> bytes:
    """A seed with some of its bytes changed, left out, given twice, or replaced by words of the format."""
    data = draw(st.sampled_from(seeds(reader)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 32)))
        new = draw(st.sampled_from(WORDS[reader]) | st.binary(max_size=8) | st.just(data[start:end] * 2))
        data = data[:start] + new + data[end:]
    return data


@pytest.mark.parametrize("reader", READERS)
def test_seeds_are_read_or_refused_in_order(reader: str) -> None:
    for seed in seeds(reader):
        READERS[reader](seed)


@pytest.mark.parametrize("reader", READERS)
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_mutations_are_read_or_refused_in_order(reader: str, data: st.DataObject) -> None:
    READERS[reader](data.draw(mutations(reader)))


@pytest.mark.parametrize("reader", READERS)
@settings(deadline=None)
@given(data=st.binary(max_size=200))
def test_anything_is_read_or_refused_in_order(reader: str, data: bytes) -> None:
    READERS[reader](data)


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris has no wheel for this system")
@pytest.mark.parametrize("reader", READERS)
def test_a_short_search_by_coverage_finds_nothing(reader: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz", reader, str(SECONDS), "--findings", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stderr[-5_000:]
    assert "number_of_executed_units" in done.stderr
    assert list(tmp_path.iterdir()) == []
