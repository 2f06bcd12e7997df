"""Four people upload results of 54 to 360 MB (unpacked), in turn and at the same time, 50 times.

    python -m benchmarks.alternating [--uploads 50] [--embedded]

prints what each archive was answered, and how much memory the web process and its children have used together. Exit
status 1 if identical bytes were answered differently, or it is more than docs/operators.md gives the web container.
"""

import argparse
import contextlib
import io
import random
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from benchmarks.competing import Competition, competing
from benchmarks.datasets.voc2007 import EDITION, make_voc2007
from benchmarks.running import installed, serving
from tests.support.factories import make_token, make_user
from vocboard.evaluator.editions import Task, load

PEOPLE = 4
UPLOADS = 50
SIZES_MB = (54, 120, 240, 360)  # unpacked
FILE_MB = 18
MB, GIB = 1_000_000, 1024**3
ALLOWED_BYTES = 6 * GIB  # VOCBOARD_WEB_MEMORY
SAMPLED_EVERY_SECONDS = 0.25


@dataclass(frozen=True)
class Outcome:
    """Measurements of one run.

    Attributes:
        answers: for each archive, how often it got which answer: the status, and the codes of problems.
        seconds: of each upload, from the POST to the answer.
        peak_bytes: of the web process and its children together; what they share counts once.
    """

    answers: dict[str, Counter[str]]
    seconds: dict[str, list[float]]
    peak_bytes: int

    @property
    def holds(self) -> bool:
        """Whether identical bytes got one answer, within the documented memory."""
        return all(len(found) == 1 for found in self.answers.values()) and self.peak_bytes <= ALLOWED_BYTES


def make_archive(path: Path, megabytes: float, images: tuple[str, ...]) -> None:
    """Write an archive of detections, some files of up to 18 MB."""
    numbers = random.Random(0)  # noise, not a secret
    lines = [
        f"{image} {numbers.random():.6f} {numbers.randrange(1, 200)} {numbers.randrange(1, 200)} 300 300\n"
        for image in images
        for _ in range(8)
    ]
    piece = "".join(lines).encode()
    size = min(FILE_MB, megabytes) * MB
    content = piece * max(1, int(size / len(piece)))
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name in load(EDITION).classes[: max(1, int(megabytes / FILE_MB))]:
            member = tarfile.TarInfo(f"results/{EDITION}/Main/comp4_det_test_{name}.txt")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


@contextmanager
def _peak(process: psutil.Process, found: list[int]) -> Iterator[None]:
    """Append the largest proportional set size of a process and its children during the block."""
    stop, most = threading.Event(), [0]

    def watch() -> None:
        while not stop.wait(SAMPLED_EVERY_SECONDS):
            total = 0
            for each in (process, *process.children(recursive=True)):
                with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                    total += each.memory_full_info().pss
            most[0] = max(most[0], total)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        found.append(most[0])


def _people(competition: Competition) -> list[Competition]:
    with competition.database.writing() as session:
        users = [make_user(session) for _ in range(PEOPLE)]
        return [replace(competition, user=user, token=make_token(session, user)) for user in users]


def run(
    directory: Path, *, uploads: int = UPLOADS, sizes_mb: tuple[float, ...] = SIZES_MB, embedded: bool = False
) -> Outcome:
    """Start an installation with the default limits of memory, and measure it.

    Args:
        directory: an empty one.
        uploads: of all people together.
        sizes_mb: of the archives, unpacked.
        embedded: on SQLite and a directory of messages.
    """
    make_voc2007(directory, 1.0 if max(sizes_mb) >= FILE_MB else 0.01)
    data = directory / "installation"
    data.mkdir()
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: dict[str, list[float]] = defaultdict(list)
    peaks: list[int] = []
    with (
        installed(data, embedded=embedded) as installation,
        competing(installation, directory / "truth.npz") as competition,
        serving(installation),
    ):
        images = competition.truth.image_sets.sets[Task.DETECTION, "test"].images
        archives = []
        for size in sizes_mb:
            archives.append(directory / f"{size:g}-mb.tar.gz")
            make_archive(archives[-1], size, tuple(images))
        people = _people(competition)

        def upload_all(first: int) -> None:
            for number in range(first, uploads, PEOPLE):
                archive = archives[(number // PEOPLE + first) % len(archives)]
                began = time.perf_counter()
                status, answer = people[first].upload(archive)
                seconds[archive.name].append(time.perf_counter() - began)
                codes = sorted({problem["code"] for problem in answer.get("problems", ())})
                answers[archive.name][" ".join([str(status), *codes])] += 1

        with _peak(installation.processes["serve"], peaks), ThreadPoolExecutor(PEOPLE) as pool:
            list(pool.map(upload_all, range(PEOPLE)))
    return Outcome(answers, seconds, peaks[0])


def main() -> int:
    """Run it once, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--uploads", type=int, default=UPLOADS)
    parser.add_argument("--embedded", action="store_true", help="on SQLite and a directory of messages")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        outcome = run(Path(directory), uploads=arguments.uploads, embedded=arguments.embedded)
    for name, found in sorted(outcome.answers.items()):
        times = outcome.seconds[name]
        print(f"{name}: {dict(found)}, {min(times):.1f} to {max(times):.1f} s")
    print(f"memory: at most {outcome.peak_bytes / GIB:.2f} GiB; {ALLOWED_BYTES / GIB:g} are allowed")
    return 0 if outcome.holds else 1


if __name__ == "__main__":
    sys.exit(main())
