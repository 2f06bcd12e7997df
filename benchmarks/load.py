"""Load on a web server: `python -m benchmarks.load URL REQUESTS CONNECTIONS` prints what it was like as JSON.

Each connection sends its next request as soon as the last answer is complete, as `wrk` does. A process of its own, and
nothing in it but a protocol that counts bytes: a client library would be busier than the server.
"""

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

END_OF_HEAD = b"\r\n\r\n"
LENGTH = b"\r\ncontent-length: "


@dataclass(frozen=True, slots=True)
class Load:
    """Measurements of one load.

    Attributes:
        seconds: from the first request to the last answer.
        p50: milliseconds from a request to the end of its answer, that half of them took no longer than.
        p99: the same of ninety-nine in a hundred.
        answer_bytes: of the last answer, its head included.
    """

    requests: int
    seconds: float
    p50: float
    p99: float
    answer_bytes: int


class Requests:
    """The requests that are still to be sent, and how long those that were took."""

    def __init__(self, url: str, count: int) -> None:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        # As browsers do, also to the servers behind a proxy: they take gzip.
        head = (f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", "Accept-Encoding: gzip, deflate, br")
        self.text = "\r\n".join([*head, "", ""]).encode()
        self.address = (parts.hostname or "", parts.port or 80)
        self.left = count
        self.seconds: list[float] = []
        self.answer_bytes = 0


class Connection(asyncio.Protocol):
    """One connection: a request at a time, until none is left."""

    def __init__(self, requests: Requests, done: asyncio.Future[None]) -> None:
        self._requests = requests
        self._done = done
        self._head = b""
        self._missing = 0  # bytes of the answer that are still to come; 0 before its head is complete
        self._length = 0
        self._sent_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        """Count, and at the end of an answer send the next request."""
        if not self._missing:
            self._head += data
            end = self._head.find(END_OF_HEAD)
            if end < 0:
                return
            head, received = self._head[:end].lower(), len(self._head)
            if not head.startswith(b"http/1.1 200 "):
                self._done.set_exception(RuntimeError(head.decode(errors="replace")))
                self._transport.close()
                return
            start = head.index(LENGTH) + len(LENGTH)
            stop = head.find(b"\r", start)
            self._length = end + len(END_OF_HEAD) + int(head[start : stop if stop > 0 else None])
            self._missing = self._length - received
        else:
            self._missing -= len(data)
        if not self._missing:
            self._requests.seconds.append(time.perf_counter() - self._sent_at)
            self._requests.answer_bytes = self._length
            self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        """Mark as done."""
        if not self._done.done():
            self._done.set_exception(exc or RuntimeError("the server closed the connection"))

    def _send(self) -> None:
        if not self._requests.left:
            self._done.set_result(None)
            self._transport.close()
            return
        self._requests.left -= 1
        self._head = b""
        self._sent_at = time.perf_counter()
        self._transport.write(self._requests.text)


async def load(url: str, count: int, connections: int) -> Load:
    """Send so many requests over so many connections, and wait for all answers.

    Raises:
        RuntimeError: an answer is not a 200.
    """
    loop = asyncio.get_running_loop()
    requests = Requests(url, count)
    finished = [loop.create_future() for _ in range(connections)]
    start = time.perf_counter()
    for done in finished:
        await loop.create_connection(lambda done=done: Connection(requests, done), *requests.address)  # type: ignore[misc]
    await asyncio.gather(*finished)
    seconds = time.perf_counter() - start
    taken = sorted(requests.seconds)
    p50, p99 = (1000 * taken[int(share * (len(taken) - 1))] for share in (0.5, 0.99))
    return Load(len(taken), seconds, p50, p99, requests.answer_bytes)


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(load(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))))
