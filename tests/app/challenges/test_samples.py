"""Samples of custom editions, drawn by a child process: complete, cached, and bounded in time."""

import io
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

from vocboard.app.challenges import samples
from vocboard.app.challenges.models import Challenge
from vocboard.app.errors import BusyError, ConflictError

EXAMPLES = Path(__file__).parents[3] / "docs" / "editions" / "examples"


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    samples._cache.clear()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def challenge(file: str = "instances") -> Challenge:
    text = (EXAMPLES / f"{file}.toml").read_text()
    return Challenge(edition=file.capitalize(), edition_file=text)


def test_samples_are_the_edition_a_tree_and_results(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = challenge()
    content = samples.samples_of(given)
    with zipfile.ZipFile(io.BytesIO(content)) as found:
        assert found.namelist() == ["edition.toml", "ground-truth.tar.gz", "results.tar.gz"]
        assert found.read("edition.toml").decode() == given.edition_file
        with tarfile.open(fileobj=io.BytesIO(found.read("ground-truth.tar.gz"))) as tree:
            names = tree.getnames()
    assert "Instances/ImageSets/Segmentation/test.txt" in names
    assert list(empty_cache.iterdir()) == []
    monkeypatch.setattr(samples, "_drawn", None)
    with samples._one_at_a_time:  # others are being drawn
        assert samples.samples_of(given) is content  # not drawn again


def test_a_built_in_edition_has_no_samples() -> None:
    with pytest.raises(ConflictError, match="custom editions"):
        samples.samples_of(Challenge(edition="VOC2012", edition_file=None))


def test_samples_are_drawn_one_edition_at_a_time() -> None:
    with samples._one_at_a_time, pytest.raises(BusyError, match="Try again"):
        samples.samples_of(challenge())


def test_drawing_ends_in_time_and_leaves_nothing(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SECONDS", 0.2)
    with pytest.raises(ConflictError, match="took longer than"):
        samples.samples_of(challenge())
    assert list(empty_cache.iterdir()) == []
    assert not samples._one_at_a_time.locked()


def test_the_process_that_draws_loads_the_same_extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOCBOARD_EXTENSIONS", "vocboard-poses")
    monkeypatch.setattr(
        samples, "_START", "import os, sys; print(os.environ['VOCBOARD_EXTENSIONS'], file=sys.stderr); sys.exit(2)"
    )
    with pytest.raises(ConflictError, match="for this edition: vocboard-poses"):
        samples.samples_of(challenge())


def test_too_little_memory_is_an_error_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "MEMORY_BYTES", 64 * 1024**2)
    with pytest.raises(ConflictError, match="No samples can be drawn") as caught:
        samples.samples_of(challenge())
    assert "Traceback" not in str(caught.value)
