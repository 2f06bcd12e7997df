"""Uploads of 200 MB over the loopback, to a server that has had some: received, stored and hashed, before validation.

The file is not an archive, which validation detects in its first bytes, so almost all of the time is spent receiving.
The times for a file of ten bytes, and for the first one after the server's start, are reported too, and not subtracted.
"""

import hashlib
import os
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Measurement, Run
from benchmarks.competing import competing
from benchmarks.datasets.voc2007 import make_voc2007
from benchmarks.datasets.world import SEED
from benchmarks.running import installed, serving

UPLOAD_BYTES = 200_000_000
CHUNK_BYTES = 1024 * 1024
REFUSED = 422
SMALL_UPLOADS = 4
LARGE_UPLOADS = 3  # the median counts; memory and processor time are those of all three


def make_upload(directory: Path, scale: float) -> None:
    """Write a large file and a small one, both no archives, and the truth of a challenge to send them to."""
    make_voc2007(directory, 0.01)
    (directory / "large").write_bytes(np.random.default_rng(SEED).bytes(int(UPLOAD_BYTES * scale)))
    (directory / "small").write_bytes(b"no archive")


def _ours(directory: Path) -> Run:
    def run() -> Measurement:
        with ExitStack() as stack:
            scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=directory)))
            installation = stack.enter_context(installed(scratch))
            competition = stack.enter_context(competing(installation, directory / "truth.npz"))
            stack.enter_context(serving(installation))

            def send(file: str) -> float:
                began = time.perf_counter()
                status, answer = competition.upload(directory / file)
                assert status == REFUSED, answer
                return time.perf_counter() - began

            first, *small = [send("small") for _ in range(SMALL_UPLOADS)]
            before, processor_before = installation.peak_mib("serve"), installation.processor_seconds()
            large = [send("large") for _ in range(LARGE_UPLOADS)]
            peak, processor_seconds = (
                installation.peak_mib("serve"),
                installation.processor_seconds() - processor_before,
            )
            return Measurement(
                statistics.median(large),
                processor_seconds / LARGE_UPLOADS,
                peak,
                {"ten bytes s": statistics.median(small), "the first s": first, "grown by MiB": peak - before},
            )

    return run


def _write_and_hash(directory: Path) -> Run:
    content = memoryview((directory / "large").read_bytes())

    def run() -> None:
        digest = hashlib.sha256()
        with tempfile.TemporaryFile(dir=directory) as file:
            for start in range(0, len(content), CHUNK_BYTES):
                chunk = content[start : start + CHUNK_BYTES]
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())

    return run


WRITE = "write, hash, bring to the disk"

UPLOAD = Case(
    name="upload",
    title="upload of 200 MB, stored and hashed",
    make=make_upload,
    implementations={"vocboard": Implementation(Kind.OURS, _ours), WRITE: Implementation(Kind.FLOOR, _write_and_hash)},
    goals=(Goal(1.5, (WRITE,)),),
)
