"""64 people upload as slowly as they can, eight upload large archives; others upload small ones all the while.

    python -m benchmarks.crowd [--seconds 120] [--embedded]

prints how long the small uploads take from the POST to the answer, which comes after their validation: on the idle
server, and in the crowd. All accounts are new, and each of the crowd has its own network. Exit status 1 if the median
in the crowd is more than three times the idle one, or one is refused.
"""

import argparse
import http.client
import itertools
import multiprocessing
import secrets
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

import httpx

from benchmarks.abuse import LINES, SECONDS_TO_BEGIN, Target, begun, many_lines, slow_to_check, step_aside
from benchmarks.competing import Competition, competing
from benchmarks.datasets.voc2007 import make_voc2007
from benchmarks.running import installed, serving
from tests.support.factories import make_token, make_user
from vocboard.app.settings import Settings

SLOW, LARGE, OTHERS = 64, 8, 20  # accounts
SLOW_BYTES_PER_SECOND = 36 * 1024  # a little more than has to be
SECONDS_TO_TRY_AGAIN = 10.0  # as the server says
SCALE = 0.1  # of VOC2007's results: what others upload is small
IDLE_UPLOADS = 15
PAUSE_SECONDS = 1.0
ALLOWED_RATIO = 3.0


def slow(target: Target, stop: threading.Event) -> int:
    """Hold a place as long as the server lets it."""
    with begun(target) as connection:
        connection.setblocking(False)
        while not stop.wait(1.0):
            try:
                return int(connection.recv(100).split()[1])
            except BlockingIOError:
                connection.send(bytes(SLOW_BYTES_PER_SECOND))
    return 0


def large(target: Target, _stop: threading.Event) -> int:
    """Send what takes long to check."""
    return slow_to_check(target)


def crowd(
    targets: list[Target],
    full: threading.Event,
    stop: threading.Event,
    told: "multiprocessing.Queue[dict[str, int]]",
) -> None:
    """Be all of their machines.

    Args:
        full: set when all places are held, so that one who is slow is refused.
    """
    step_aside()
    many_lines(int(LINES * targets[0].scale))  # made once, before all threads ask for them
    answers: SimpleQueue[str] = SimpleQueue()

    def repeat(kind: Callable[[Target, threading.Event], int], target: Target) -> None:
        while not stop.is_set():
            try:
                status = kind(target, stop)
            except (httpx.HTTPError, OSError, IndexError, ValueError) as error:
                answers.put(f"{kind.__name__}: {type(error).__name__}")
                status = 0
            else:
                answers.put(f"{kind.__name__}: {status}")
                if kind is slow and status == http.client.TOO_MANY_REQUESTS:
                    full.set()
            stop.wait(SECONDS_TO_TRY_AGAIN if status != http.client.UNPROCESSABLE_ENTITY else 0.0)

    kinds = [slow] * SLOW + [large] * LARGE
    jobs = zip(kinds, targets, strict=True)
    threads = [threading.Thread(target=repeat, args=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    stop.wait()
    told.put(Counter(answers.get() for _ in range(answers.qsize())))


@dataclass(frozen=True)
class Outcome:
    """Measurements of one run.

    Attributes:
        idle, busy: seconds of each small upload.
        refused: how many of the small uploads in the crowd were refused.
        answers: what the crowd got, and how often.
    """

    idle: list[float]
    busy: list[float]
    refused: int
    answers: dict[str, int]

    @property
    def ratio(self) -> float:
        """How many times as long the median upload takes."""
        return statistics.median(self.busy) / statistics.median(self.idle)


def _targets(competition: Competition, scale: float) -> list[Target]:
    with competition.database.writing() as session:
        users = [make_user(session) for _ in range(SLOW + LARGE)]
        tokens = [make_token(session, user) for user in users]
    path = f"/api/v1/challenges/{competition.challenge.slug}/submissions"
    installation = competition.installation
    origin = installation.url if installation.is_embedded else installation.settings.public_url
    secret = installation.settings.proxy_secret.get_secret_value()
    return [
        Target(installation.url, secret, origin, path, token, user.email, b"", f"203.0.113.{number}", scale)
        for number, (user, token) in enumerate(zip(users, tokens, strict=True))
    ]


def _timed(competition: Competition, archive: Path) -> tuple[float, int]:
    began = time.perf_counter()
    status, _ = competition.upload(archive)
    return time.perf_counter() - began, status


def run(
    directory: Path,
    *,
    seconds: float,
    embedded: bool = False,
    idle_uploads: int = IDLE_UPLOADS,
    scale: float = 1.0,
) -> Outcome:
    """Start an installation with the default limits, and measure it.

    Args:
        directory: an empty one.
        seconds: in the crowd.
        embedded: on SQLite and a directory of messages.
        idle_uploads: uploads to the idle server.
        scale: of the large archives.
    """
    limits = {name: Settings.model_fields[name].default for name in ("uploads_per_hour", "upload_bytes_per_day")}
    make_voc2007(directory, SCALE)
    archive, data = directory / "results.tar.gz", directory / "installation"
    data.mkdir()
    with (
        installed(data, embedded=embedded, proxy_secret=secrets.token_hex(), **limits) as installation,
        competing(installation, directory / "truth.npz") as competition,
        serving(installation),
    ):
        with competition.database.writing() as session:
            users = [make_user(session) for _ in range(OTHERS)]
            made = [replace(competition, user=user, token=make_token(session, user)) for user in users]
        others = itertools.cycle(made)
        for _ in range(2):
            _timed(next(others), archive)
        idle = [_timed(next(others), archive)[0] for _ in range(idle_uploads)]
        context = multiprocessing.get_context("spawn")
        full, stop, told = context.Event(), context.Event(), context.Queue()
        process = context.Process(target=crowd, args=(_targets(competition, scale), full, stop, told), daemon=True)
        process.start()
        assert full.wait(SECONDS_TO_BEGIN), "the crowd does not hold all places of new accounts"
        busy: list[tuple[float, int]] = []
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at or not busy:
            busy.append(_timed(next(others), archive))
            time.sleep(PAUSE_SECONDS)
        stop.set()
        answers = told.get(timeout=60)
        process.kill()
    refused = sum(status != http.client.CREATED for _, status in busy)
    return Outcome(idle, [each for each, _ in busy], refused, answers)


def main() -> int:
    """Run it once, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--embedded", action="store_true", help="on SQLite and a directory of messages")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        outcome = run(Path(directory), seconds=arguments.seconds, embedded=arguments.embedded)
    for name, found in (("idle", outcome.idle), ("in the crowd", outcome.busy)):
        print(f"{name}: median {statistics.median(found):.2f} s, worst {max(found):.2f} s of {len(found)} uploads")
    print(f"that is {outcome.ratio:.2f} times as long; {ALLOWED_RATIO:g} are allowed; {outcome.refused} were refused")
    for answer, number in sorted(outcome.answers.items()):
        print(f"  {number:6,} {answer}")
    return 0 if outcome.ratio <= ALLOWED_RATIO and not outcome.refused else 1


if __name__ == "__main__":
    sys.exit(main())
