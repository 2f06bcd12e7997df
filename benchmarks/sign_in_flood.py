"""Cost to other people of 150 connections that try passwords: the time of a page, and of signing in.

    python -m benchmarks.sign_in_flood [--seconds 20] [--real]

starts `vocboard serve` on the embedded set-up, or with `--real` two web processes on a PostgreSQL and a Redis. Another
process sends wrong passwords over 150 connections without a pause; the server knows each connection's address by a
proxy's word. Meanwhile one person opens the front page, and others sign in with the right password, from addresses and
browsers that the server has not seen before. Exit status 1 if the page takes more than twice as long (median or 95th
percentile), or somebody waits too long to be signed in.
"""

import argparse
import asyncio
import contextlib
import itertools
import secrets
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.password_flood import Server, flooding, floods
from benchmarks.running import installed, serving
from tests.support.factories import PASSWORD, make_user
from vocboard.app.database import Database

CONNECTIONS = 150
PEOPLE = 10  # who sign in, in turn
PROCESSES = 2  # web processes of the real set-up, as in docker-compose.yml
PAUSE_SECONDS = 0.05  # between two requests for the page
SIGN_IN_PAUSE_SECONDS = 1.0
WARMING_SECONDS = 2.0
ALLOWED_FACTOR = 2.0
ALLOWED_SIGN_IN_SECONDS = 5.0


async def page_seconds(server: Server, seconds: float) -> list[float]:
    """Open the front page again and again, as one person; return how long each took."""
    found = []
    until = time.monotonic() + seconds
    async with server.client("203.0.113.250") as client:
        while time.monotonic() < until:
            began = time.perf_counter()
            (await client.get("/")).raise_for_status()
            found.append(time.perf_counter() - began)
            await asyncio.sleep(PAUSE_SECONDS)
    return found


async def sign_in_seconds(server: Server, emails: Iterator[tuple[int, str]], seconds: float) -> list[float]:
    """Sign in again and again, each time from another address; return how long each took, the form's page included."""
    found = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        number, email = next(emails)
        async with server.client(f"203.0.113.{number % 200}") as client:
            began = time.perf_counter()
            status = await server.sign_in(client, email, PASSWORD)
            found.append(time.perf_counter() - began)
        if status != httpx.codes.SEE_OTHER:
            raise RuntimeError(f"the right password was answered with {status}")
        await asyncio.sleep(SIGN_IN_PAUSE_SECONDS)
    return found


@dataclass(frozen=True)
class Times:
    """Seconds of the page and of signing in."""

    page: list[float]
    sign_in: list[float]

    def __str__(self) -> str:
        """Return them for people."""
        return (
            f"page: median {_median(self.page) * 1e3:.1f} ms, 95 % {_p95(self.page) * 1e3:.1f} ms; "
            f"{len(self.sign_in)} sign-ins: median {_median(self.sign_in):.2f} s, worst {max(self.sign_in):.2f} s"
        )

    def factors(self, idle: "Times") -> tuple[float, float]:
        """How many times as long the page takes: the median, and the 95th percentile."""
        return _median(self.page) / _median(idle.page), _p95(self.page) / _p95(idle.page)


_median = statistics.median


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[18]


@dataclass(frozen=True)
class Outcome:
    """Measurements of one run.

    Attributes:
        busy: by the flood's name, the times under it, and what its connections were answered.
    """

    idle: Times
    busy: dict[str, tuple[Times, Counter[int]]]

    @property
    def is_allowed(self) -> bool:
        """Whether nobody was slowed down by more than is allowed."""
        return all(
            max(times.factors(self.idle)) <= ALLOWED_FACTOR and max(times.sign_in) <= ALLOWED_SIGN_IN_SECONDS
            for times, _ in self.busy.values()
        )


async def _measure(server: Server, emails: Iterator[tuple[int, str]], seconds: float) -> Times:
    return Times(*await asyncio.gather(page_seconds(server, seconds), sign_in_seconds(server, emails, seconds)))


def run(
    directory: Path,
    *,
    seconds: float,
    warming_seconds: float = WARMING_SECONDS,
    real: bool = False,
    connections: int = CONNECTIONS,
) -> Outcome:
    """Start an installation and measure it idle, then under each flood.

    Args:
        directory: an empty one.
        seconds: of each measurement.
        warming_seconds: of visits before the first one.
        real: on PostgreSQL and Redis.
    """
    with (
        installed(directory, embedded=not real, proxy_secret=secrets.token_hex()) as installation,
        serving(installation, processes=PROCESSES if real else 1),
        contextlib.closing(Database(installation.settings.database)) as database,
    ):
        with database.writing() as session:
            emails = enumerate(itertools.cycle([make_user(session).email for _ in range(PEOPLE)]))
        settings = installation.settings
        origin = settings.public_url if real else installation.url
        server = Server(installation.url, origin, settings.proxy_secret.get_secret_value())
        asyncio.run(_measure(server, emails, warming_seconds))
        idle = asyncio.run(_measure(server, emails, seconds))
        busy = {}
        for number, flood in enumerate(floods()):
            with flooding(server, number, connections) as answers:
                times = asyncio.run(_measure(server, emails, seconds))
            busy[flood.name] = (times, answers)
        return Outcome(idle, busy)


def main() -> int:
    """Run it once, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement (default: %(default)s)")
    parser.add_argument("--real", action="store_true", help="on PostgreSQL and Redis, with two web processes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        outcome = run(Path(directory), seconds=arguments.seconds, real=arguments.real)
    print(f"idle: {outcome.idle}")
    for name, (times, answers) in outcome.busy.items():
        median, p95 = times.factors(outcome.idle)
        told = ", ".join(f"{number} x {status}" for status, number in sorted(answers.items())) or "none"
        print(f"{CONNECTIONS} connections, {name}: {times}")
        print(f"  the page takes {median:.2f} times as long (95 %: {p95:.2f}); the connections' answers: {told}")
    print(f"allowed: a factor of {ALLOWED_FACTOR:g}, and {ALLOWED_SIGN_IN_SECONDS:g} s to sign in")
    return 0 if outcome.is_allowed else 1


if __name__ == "__main__":
    sys.exit(main())
