"""One person with three accounts does their worst; another uploads results of VOC2007's size all the while.

    python -m benchmarks.abuse [--seconds 300] [--embedded]

prints how long the other person's uploads take from the POST to their scores, on the idle server and under abuse, and
how much the disk has grown next to what docs/operators.md allows. Exit status 1 if it takes more than twice as long
(the median), or the disk grows by more.
"""

import argparse
import gzip
import http.client
import io
import itertools
import multiprocessing
import os
import random
import secrets
import socket
import statistics
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from urllib.parse import urlsplit

import httpx

from benchmarks.cases.scoring import PROCESSES, submit
from benchmarks.competing import Competition, competing
from benchmarks.datasets.voc2007 import make_voc2007
from benchmarks.running import installed, serving
from tests.support.browsing import token_of
from tests.support.factories import make_token, make_user
from vocboard.app.challenges.queries import challenge_with_phases
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import COLUMNS_PER_ARCHIVE

ACCOUNTS = 3
ABUSERS_PER_KIND = 2  # threads of each account
OTHERS = 20  # people whose uploads are measured, in turn
QUOTA = 12
PART = '\r\n\r\n--b\r\nContent-Disposition: form-data; name="archive"; filename="x.tar"\r\n\r\n'
ADDRESS = "203.0.113.66"  # the abuser's, by a proxy's word
WARMING = 4
IDLE_UPLOADS = 7
PAUSE_SECONDS = 5.0  # between measured uploads
ALLOWED_RATIO = 2.0
MIB = 1024 * 1024
LINES = 500_000
MEMBERS = 200_000
SIGN_INS_AT_ONCE = 4
NICENESS = 19  # where there is no scheduling policy for idle processors
SECONDS_TO_BEGIN = 120.0
SECONDS_TO_END = 10.0  # for the abuser, when asked to


@dataclass(frozen=True)
class Target:
    """The attacker's view of the server.

    Attributes:
        proxy_secret: with which the server believes whose address a request comes from.
        origin: of its pages, as browsers say it.
        path: of the challenge's submissions.
        token: of one of the accounts.
        good: an archive that is accepted.
        network: the address that requests come from.
        scale: of archives that take long to read.
    """

    url: str
    proxy_secret: str
    origin: str
    path: str
    token: str
    email: str
    good: bytes
    network: str = ADDRESS
    scale: float = 1.0

    @property
    def address(self) -> dict[str, str]:
        """The headers by which the server knows the abuser's address."""
        return {"X-Forwarded-For": self.network, "X-Vocboard-Proxy": self.proxy_secret}

    @property
    def headers(self) -> dict[str, str]:
        """Of every request to the API."""
        return {"Authorization": f"Bearer {self.token}", **self.address}

    def upload(self, archive: bytes) -> httpx.Response:
        """Send an archive whole."""
        return httpx.post(
            self.url + self.path,
            headers=self.headers,
            data={"method_name": "Method", "training_data": "none"},
            files={"archive": ("results.tar.gz", archive)},
            timeout=120,
        )


def begun(target: Target) -> socket.socket:
    """Announce a large upload, and send its form."""
    address = urlsplit(target.url)
    headers = {
        "Host": address.netloc,
        "Content-Type": "multipart/form-data; boundary=b",
        "Content-Length": str(400 * MIB),
        **target.headers,
    }
    lines = [f"POST {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    connection = socket.create_connection((address.hostname or "", address.port or 0), timeout=30)
    connection.sendall(("\r\n".join(lines) + PART).encode())
    return connection


def half_sent(target: Target) -> int:
    """Announce a large upload, send a little of it for a while, and go away."""
    with begun(target) as connection:
        connection.sendall(os.urandom(20 * MIB))
        connection.settimeout(3)
        with suppress(TimeoutError):
            return int(connection.recv(100).split()[1])
    return 0


def full_of_ignored_members(target: Target) -> int:
    """Send an archive of additions of macOS."""
    return target.upload(ignored_members(int(MEMBERS * target.scale))).status_code


def slow_to_check(target: Target) -> int:
    """Send a large file of lines that are wrong only at its end."""
    return target.upload(many_lines(int(LINES * target.scale))).status_code


def accepted_and_withdrawn(target: Target) -> int:
    """Send what is accepted, and withdraw it before it is evaluated: or else go over the quota."""
    answer = target.upload(target.good)
    if answer.status_code == http.client.CREATED:
        path = f"/api/v1/submissions/{answer.json()['id']}/withdraw"
        httpx.post(target.url + path, headers=target.headers, timeout=60)
    return answer.status_code


def sign_in(target: Target) -> int:
    """Try a wrong password."""
    with httpx.Client(base_url=target.url, timeout=60, headers=target.address) as client:
        page = client.get("/sign-in")
        fields = {"csrf_token": token_of(page), "email": target.email, "password": "a wrong password"}
        # Cookies for TLS alone go through plain HTTP, as between a proxy and the server.
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar)
        headers = {"Origin": target.origin, "Sec-Fetch-Site": "same-origin", "Cookie": cookies}
        return client.post("/sign-in", data=fields, headers=headers).status_code


KINDS: tuple[Callable[[Target], int], ...] = (
    half_sent,
    full_of_ignored_members,
    slow_to_check,
    accepted_and_withdrawn,
    *(sign_in for _ in range(SIGN_INS_AT_ONCE)),
)


def abuse(
    targets: list[Target],
    steps_aside: bool,
    ready: threading.Event,
    stop: threading.Event,
    told: "multiprocessing.Queue[dict[str, int]]",
) -> None:
    """Be the abuser's machine.

    Args:
        steps_aside: whether it only takes processor time that nobody else wants, as if it were another machine. (A
            niceness is not enough: Linux lets even the nicest process finish its slice of some milliseconds, at each of
            the hundred times that an upload wakes another process.)
    """
    if steps_aside:
        step_aside()
    ignored_members(int(MEMBERS * targets[0].scale))  # made once, before all threads ask for them
    many_lines(int(LINES * targets[0].scale))
    answers: SimpleQueue[str] = SimpleQueue()

    def repeat(kind: Callable[[Target], int], target: Target) -> None:
        while not stop.is_set():
            try:
                status = kind(target)
            except (httpx.HTTPError, OSError, IndexError, ValueError) as error:
                answers.put(f"{kind.__name__}: {type(error).__name__}")
            else:
                answers.put(f"{kind.__name__}: {status}")
            stop.wait(0.2)

    jobs = [(kind, target) for target in targets for kind in KINDS for _ in range(ABUSERS_PER_KIND)]
    threads = [threading.Thread(target=repeat, args=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    ready.set()
    stop.wait()
    ends_at = time.monotonic() + SECONDS_TO_END
    for thread in threads:
        thread.join(max(0.0, ends_at - time.monotonic()))
    told.put(Counter(answers.get() for _ in range(answers.qsize())))


@cache
def ignored_members(count: int) -> bytes:
    """Write the members as `tarfile` would, ten times as fast: only name and checksum differ between headers."""
    directory = "__MACOSX/"
    header = bytearray(tarfile.TarInfo(directory).tobuf())
    checksum = int(header[148:154], 8)
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as archive:
        for number in range(count):
            digits = b"%d" % number
            header[len(directory) : len(directory) + len(digits)] = digits
            header[148:154] = b"%06o" % (checksum + sum(digits))
            archive.write(header)
        archive.write(bytes(2 * tarfile.BLOCKSIZE))
    return packed.getvalue()


@cache
def many_lines(count: int) -> bytes:
    """An archive that takes long to check."""
    numbers = random.Random(0)  # noise, not a secret
    lines = [
        f"{numbers.randrange(9963):06d} {numbers.random():.6f} 1 1 {numbers.randrange(2, 300)} 99\n"
        for _ in range(count)
    ]
    data = "".join([*lines, "wrong\n"]).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        member = tarfile.TarInfo("comp4_det_test_car.txt")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def step_aside() -> None:
    """Leave the processor to all other processes."""
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(NICENESS)


def _targets(competition: Competition, archive: Path, scale: float) -> list[Target]:
    """Make the abuser's accounts; for them and everyone the challenge gets an ordinary quota."""
    with competition.database.writing() as session:
        challenge_with_phases(session, competition.challenge.id).main_phase.quota_count = QUOTA
        users = [make_user(session) for _ in range(ACCOUNTS)]
        tokens = [make_token(session, user) for user in users]
    path = f"/api/v1/challenges/{competition.challenge.slug}/submissions"
    settings, url, good = competition.installation.settings, competition.installation.url, archive.read_bytes()
    origin = url if competition.installation.is_embedded else settings.public_url
    secret = settings.proxy_secret.get_secret_value()
    return [
        Target(url, secret, origin, path, token, user.email, good, scale=scale)
        for user, token in zip(users, tokens, strict=True)
    ]


def _others(competition: Competition) -> Iterator[Competition]:
    """The people whose uploads are measured, in turn."""
    with competition.database.writing() as session:
        users = [make_user(session) for _ in range(OTHERS)]
        made = [replace(competition, user=user, token=make_token(session, user)) for user in users]
    return itertools.cycle(made)


def _stored_bytes(directory: Path) -> int:
    total = 0
    for path in directory.rglob("*"):
        with suppress(FileNotFoundError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def _budget(settings: Settings) -> int:
    """Bytes that docs/operators.md allows this many accounts to add: sent and still arriving."""
    arriving = min(ACCOUNTS * settings.concurrent_uploads, settings.concurrent_uploads_per_address)
    archives = ACCOUNTS * settings.upload_bytes_per_day + arriving * settings.upload_limit_bytes
    return (1 + COLUMNS_PER_ARCHIVE) * archives


@dataclass(frozen=True)
class Outcome:
    """Measurements of one run.

    Attributes:
        idle: seconds from a POST to its scores, of each upload to the idle server.
        busy: the same under abuse.
        grown: bytes by which the archives' directory grew at most.
        budget: bytes by which it may.
        answers: what the abuser got, and how often.
    """

    idle: list[float]
    busy: list[float]
    grown: int
    budget: int
    answers: dict[str, int]

    @property
    def ratio(self) -> float:
        """How many times as long the median upload takes."""
        return statistics.median(self.busy) / statistics.median(self.idle)


def measure(
    competition: Competition,
    archive: Path,
    *,
    seconds: float,
    scale: float,
    steps_aside: bool,
    warming: int,
    idle_uploads: int,
) -> Outcome:
    """Measure idle, then under abuse."""
    others, settings = _others(competition), competition.installation.settings
    for _ in range(warming):
        submit(next(others), archive)
    idle = [submit(next(others), archive).seconds for _ in range(idle_uploads)]
    context = multiprocessing.get_context("spawn")
    ready, stop, told = context.Event(), context.Event(), context.Queue()
    abused = (_targets(competition, archive, scale), steps_aside, ready, stop, told)
    abuser = context.Process(target=abuse, args=abused, daemon=True)
    before = most = _stored_bytes(settings.archives)
    abuser.start()
    assert ready.wait(SECONDS_TO_BEGIN), "the abuser does not begin"
    busy, ends_at = [], time.monotonic() + seconds
    try:
        while time.monotonic() < ends_at:
            time.sleep(min(PAUSE_SECONDS, seconds / 5))
            busy.append(submit(next(others), archive).seconds)
            most = max(most, _stored_bytes(settings.archives))
    finally:
        stop.set()
    answers = told.get(timeout=6 * SECONDS_TO_END)
    abuser.kill()
    return Outcome(idle, busy, most - before, _budget(settings), answers)


def run(
    directory: Path,
    *,
    seconds: float,
    scale: float = 1.0,
    embedded: bool = False,
    steps_aside: bool = True,
    warming: int = WARMING,
    idle_uploads: int = IDLE_UPLOADS,
) -> Outcome:
    """Start an installation with the default limits, and measure it.

    Args:
        directory: an empty one.
        seconds: of abuse.
        scale: of all archives; at 1.0 others upload results of VOC2007's size.
        embedded: on SQLite and a directory of messages.
        steps_aside: whether the abuser's process leaves the processor to the server.
        warming, idle_uploads: uploads to the idle server, before and while they are measured.
    """
    limits = {name: Settings.model_fields[name].default for name in ("uploads_per_hour", "upload_bytes_per_day")}
    make_voc2007(directory, scale)
    data = directory / "installation"
    data.mkdir()
    with (
        installed(
            data, embedded=embedded, worker_processes=PROCESSES, proxy_secret=secrets.token_hex(), **limits
        ) as installation,
        competing(installation, directory / "truth.npz") as competition,
        serving(installation),
        installation.working(),
    ):
        return measure(
            competition,
            directory / "results.tar.gz",
            seconds=seconds,
            scale=scale,
            steps_aside=steps_aside,
            warming=warming,
            idle_uploads=idle_uploads,
        )


def main() -> int:
    """Run it once, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--embedded", action="store_true", help="on SQLite and a directory of messages")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        outcome = run(Path(directory), seconds=arguments.seconds, embedded=arguments.embedded)
    idle, busy = outcome.idle, outcome.busy
    print(f"idle: median {statistics.median(idle):.2f} s, worst {max(idle):.2f} s of {len(idle)} uploads")
    print(f"under abuse: median {statistics.median(busy):.2f} s, worst {max(busy):.2f} s of {len(busy)} uploads")
    print(f"that is {outcome.ratio:.2f} times as long; {ALLOWED_RATIO:g} are allowed")
    grown, budget = outcome.grown / MIB, outcome.budget / MIB
    print(f"archives: grew by at most {grown:,.0f} MiB of the {budget:,.0f} MiB that are documented")
    for answer, number in sorted(outcome.answers.items()):
        print(f"  {number:6,} {answer}")
    return 0 if outcome.ratio <= ALLOWED_RATIO and outcome.grown <= outcome.budget else 1


if __name__ == "__main__":
    sys.exit(main())
