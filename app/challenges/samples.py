"""Samples of a custom edition: a tree to upload as ground truth, and results to rehearse with.

`vocboard new-edition` draws them. It runs as a child process: it needs the code that reads ground truth, which the web
process does not import, and takes some seconds of a processor.
"""

import io
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from pathlib import Path

from cachetools import LRUCache

from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.models import Challenge
from vocboard.app.errors import BusyError, ConflictError
from vocboard.evaluator import extensions

SECONDS = 120.0
MEMORY_BYTES = 2 * 1024**3
KEPT = 4  # editions whose samples are cached, each of about a megabyte
FILE, TREE, RESULTS = "edition.toml", "ground-truth.tar.gz", "results.tar.gz"
_ENVIRONMENT = {"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
_START = (
    "import sys; sys.path[:] = {path!r}; from vocboard.app.intake import confinement as limits; "
    "limits.end_with_parent(); limits.lower_priority(); limits.limit_memory({memory}); "
    "from vocboard.commands.main import main; sys.exit(main({arguments!r}))"
)

_cache: LRUCache[str, bytes] = LRUCache(KEPT)
_one_at_a_time = threading.Lock()


def samples_of(challenge: Challenge) -> bytes:
    """Return a zip file with the edition file, a sample tree and sample results, ready to be uploaded.

    Raises:
        ConflictError: the edition is not a custom one, or the example methods cannot run on it.
        BusyError: samples of another edition are being drawn.
    """
    text = challenge.edition_file
    if text is None:
        raise ConflictError("Samples are drawn for custom editions. The VOC editions have public data of their own.")
    if (kept := _cache.get(text)) is not None:
        return kept
    if not _one_at_a_time.acquire(blocking=False):
        raise BusyError("Samples of an edition are being drawn. Try again in some seconds.", retry_after=10)
    try:
        drawn = _cache[text] = _drawn(text, edition_of(challenge).name)
        return drawn
    finally:
        _one_at_a_time.release()


def _drawn(text: str, name: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="vocboard-samples-") as directory:
        file, output = Path(directory) / FILE, Path(directory) / "samples"
        file.write_text(text, encoding="utf-8")
        _run(["new-edition", "--edition-file", str(file), "--output", str(output)], directory)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as samples:  # what is in it is compressed already
            samples.writestr(FILE, text)
            with samples.open(TREE, "w") as member, tarfile.open(fileobj=member, mode="w|gz") as tree:
                tree.add(output / name, name)
            samples.write(output / RESULTS, RESULTS)
        return packed.getvalue()


def _run(arguments: list[str], directory: str) -> None:
    """Run a command of this program with limits, and without this process's settings and secrets."""
    start = _START.format(path=sys.path, memory=MEMORY_BYTES, arguments=arguments)
    process = subprocess.Popen(  # noqa: S603  # our own program
        [sys.executable, "-c", start],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=_ENVIRONMENT | extensions.environment() | {"TMPDIR": directory},
        cwd=directory,
        text=True,
        start_new_session=True,
    )
    try:
        _, said = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise ConflictError(
            f"Drawing the samples took longer than {SECONDS:.0f} seconds. Run vocboard new-edition on your computer."
        ) from None
    if process.returncode != 0:
        reason = said.strip().splitlines()[-1] if process.returncode == 2 and said.strip() else "they are too large"
        raise ConflictError(f"No samples can be drawn for this edition: {reason}")
