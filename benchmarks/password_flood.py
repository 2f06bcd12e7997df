"""Who tries passwords in `benchmarks.sign_in_flood`, in a process of their own.

Apart from it, so that the process starts in a fraction of a second: it imports an HTTP client and little else.
"""

import asyncio
import contextlib
import multiprocessing
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx

from tests.support.form_tokens import token_of

SECONDS_TO_BEGIN = 60.0
NICENESS = 10  # of the flood's process: it leaves the processor to the server, as another machine would


@dataclass(frozen=True)
class Server:
    """Addresses and accounts of the server under attack.

    Attributes:
        origin: of its pages, as browsers say it.
        proxy_secret: with which it believes whose address a request comes from.
    """

    url: str
    origin: str
    proxy_secret: str

    def client(self, address: str) -> httpx.AsyncClient:
        """Return a browser at an address."""
        headers = {"X-Forwarded-For": address, "X-Vocboard-Proxy": self.proxy_secret}
        # Without TLS there is nothing to verify, and reading all certificates takes time.
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=None, trust_env=False, verify=False)

    async def sign_in(self, client: httpx.AsyncClient, email: str, password: str) -> int:
        """Open the form and send it; return the answer's status."""
        fields = {"csrf_token": token_of(await client.get("/sign-in")), "email": email, "password": password}
        # Cookies for TLS alone go through plain HTTP, as between a proxy and the server.
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar)
        headers = {"Origin": self.origin, "Sec-Fetch-Site": "same-origin", "Cookie": cookies}
        return (await client.post("/sign-in", data=fields, headers=headers)).status_code


@dataclass(frozen=True)
class Flood:
    """Who tries passwords: for the number of a connection, its address and the account that it tries."""

    name: str
    address: Callable[[int], str]
    email: Callable[[int], str]


def floods() -> list[Flood]:
    """Return each with networks of its own, so that what one has failed does not slow the next one."""
    return [
        Flood("one network, 150 accounts", lambda _: "198.51.100.1", _account),
        Flood("one network, one account", lambda _: "198.51.100.2", lambda _: _account(0)),
        Flood("150 networks, one account", lambda number: f"192.0.2.{number}", lambda _: _account(1)),
        Flood("150 networks, 150 accounts", lambda number: f"198.18.0.{number}", _account),
    ]


def _account(number: int) -> str:
    return f"nobody{number}@lab.example"


def flood_until_killed(
    server: Server, number: int, connections: int, ready: threading.Event, answers: "multiprocessing.Queue[int]"
) -> None:
    """Try wrong passwords without a pause; tell each answer's status."""
    os.nice(NICENESS)
    flood = floods()[number]

    async def try_without_end(connection: int) -> None:
        async with server.client(flood.address(connection)) as client:
            while True:
                answers.put(await server.sign_in(client, flood.email(connection), "not the right one"))
                ready.set()

    async def try_all() -> None:
        await asyncio.gather(*map(try_without_end, range(connections)))

    asyncio.run(try_all())


@contextlib.contextmanager
def flooding(server: Server, number: int, connections: int) -> Iterator[Counter[int]]:
    """Flood the server until the block ends; the answers are counted after it."""
    context = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[int] = context.Queue()
    ready = context.Event()
    arguments = (server, number, connections, ready, answers)
    process = context.Process(target=flood_until_killed, args=arguments, daemon=True)
    process.start()
    counted: Counter[int] = Counter()
    try:
        if not ready.wait(SECONDS_TO_BEGIN):
            raise TimeoutError("none of the flood is answered")
        yield counted
    finally:
        process.kill()
        while not answers.empty():
            counted[answers.get()] += 1
