"""What 150 connections that sign in cost other people: the time of a page before and during, and its factor.

    python -m benchmarks.sign_in_flood [--seconds 20] [--url http://...]

Without `--url` it runs `vocboard serve` on the embedded set-up; for PostgreSQL and Redis set VOCBOARD_DATABASE_URL and
VOCBOARD_BROKER_URL as usual. The connections fail, each at an account of its own or all at one, without a pause.
"""

import argparse
import asyncio
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator

import httpx

CONNECTIONS = 150
PAGE = "/"
START_SECONDS = 60
PAUSE_SECONDS = 0.05  # between two looks at the page
_TOKEN = re.compile(r'name="csrf_token" value="([0-9a-f]{64})"')


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Run a server of the settings in the environment until the block ends; give its address."""
    port = 8399
    with tempfile.TemporaryDirectory(prefix="vocboard-flood-") as directory:
        environment = {"VOCBOARD_DATA_DIRECTORY": directory, "VOCBOARD_SECRET_KEY": os.urandom(32).hex(), **os.environ}
        process = subprocess.Popen(
            [sys.executable, "-m", "vocboard.commands.main", "serve", "--port", str(port)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + START_SECONDS
            while True:
                with contextlib.suppress(httpx.TransportError):
                    if httpx.get(f"http://127.0.0.1:{port}/readyz").is_success:
                        break
                if time.monotonic() > deadline:
                    raise TimeoutError("the server does not start")
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


async def page_seconds(url: str, seconds: float) -> list[float]:
    """Open the page again and again, as one person; return how long each took."""
    found = []
    until = time.monotonic() + seconds
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        while time.monotonic() < until:
            began = time.perf_counter()
            (await client.get(PAGE)).raise_for_status()
            found.append(time.perf_counter() - began)
            await asyncio.sleep(PAUSE_SECONDS)
    return found


async def sign_in_without_end(url: str, email: str, answers: Counter[int]) -> None:
    """Fail to sign in again and again, on one connection."""
    async with httpx.AsyncClient(base_url=url, timeout=None) as client:
        found = _TOKEN.search((await client.get("/sign-in")).text)
        assert found is not None
        form = {"csrf_token": found[1], "email": email, "password": "not the right one"}
        while True:
            answer = await client.post("/sign-in", data=form, headers={"Origin": url})
            answers[answer.status_code] += 1


async def measure(url: str, seconds: float, *, one_account: bool) -> tuple[list[float], Counter[int]]:
    """Return the page's times while all connections sign in, and what these were answered."""
    answers: Counter[int] = Counter()
    flood = [
        asyncio.create_task(sign_in_without_end(url, f"person{0 if one_account else number}@lab.example", answers))
        for number in range(CONNECTIONS)
    ]
    await asyncio.sleep(3)
    try:
        return await page_seconds(url, seconds), answers
    finally:
        for task in flood:
            task.cancel()
        await asyncio.gather(*flood, return_exceptions=True)


def in_words(times: list[float]) -> str:
    """Return the median and the 95th percentile."""
    return f"median {statistics.median(times) * 1e3:.1f} ms, 95 % {statistics.quantiles(times, n=20)[18] * 1e3:.1f} ms"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement (default: %(default)s)")
    parser.add_argument("--url", help="a server that runs already")
    arguments = parser.parse_args()
    with contextlib.nullcontext(arguments.url) if arguments.url else running() as url:
        asyncio.run(page_seconds(url, 2))
        idle = asyncio.run(page_seconds(url, arguments.seconds))
        print(f"idle: {in_words(idle)}")
        for one_account in (False, True):
            busy, answers = asyncio.run(measure(url, arguments.seconds, one_account=one_account))
            factor = statistics.median(busy) / statistics.median(idle)
            whom = "one account" if one_account else "150 accounts"
            print(
                f"{CONNECTIONS} connections at {whom}: {in_words(busy)}, factor {factor:.1f}; answers {dict(answers)}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
