"""The web application over real HTTP: a server in a thread, as its own process would run it."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import uvicorn
from fastapi import FastAPI
from sqlalchemy.orm import Session

from vocboard.app.database import Database
from vocboard.app.main import create_app
from vocboard.app.settings import Settings
from vocboard.app.web.http_protocol import BoundedHttpProtocol

SECONDS_TO_START = 30
SECONDS_TO_ANSWER = 150  # more than the server gives an upload
# Without TLS there is nothing to verify, and reading all certificates takes time; so does making a context each time.
UNVERIFIED = httpx.create_ssl_context(verify=False)
SECONDS_KEPT = 2  # less than the server keeps a connection without requests


class _Connections(httpx.HTTPTransport):
    """Connections that clients use one after the other: a new one for each takes as long as many a request."""

    def __init__(self) -> None:
        super().__init__(verify=UNVERIFIED, trust_env=False, limits=httpx.Limits(keepalive_expiry=SECONDS_KEPT))

    def __exit__(self, *_: object) -> None:
        """Leave them to the next client."""

    def close(self) -> None:
        """Leave them to the next client."""

    def end(self) -> None:
        """Close them."""
        super().close()


@dataclass(frozen=True, slots=True)
class Site:
    """A running web application.

    Attributes:
        url: where it answers.
        connections: of its clients.
    """

    url: str
    application: FastAPI
    settings: Settings
    connections: _Connections = field(default_factory=_Connections)

    @property
    def database(self) -> Database:
        """The application's own."""
        database: Database = self.application.state.services.database
        return database

    @contextlib.contextmanager
    def writing(self) -> Iterator[Session]:
        """Give a transaction that is committed at the end."""
        with self.database.writing() as session:
            yield session

    @contextlib.contextmanager
    def client(self, token: str | None = None) -> Iterator[httpx.Client]:
        """Give a client that follows no redirects: of a browser, or of a program with its token."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=SECONDS_TO_ANSWER,
            transport=self.connections,
            trust_env=False,
        ) as client:
            yield client


class _Server(uvicorn.Server):
    """A server without polling, which stops when its last connection is closed.

    uvicorn itself checks `should_exit` ten times a second, and then waits for two tenths of a second.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def stop(self) -> None:
        """Request shutdown (thread-safe)."""
        self.should_exit = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has stopped already
                self._loop.call_soon_threadsafe(self._stopping.set)

    async def main_loop(self) -> None:
        """Serve until `stop`."""
        self._loop = asyncio.get_running_loop()
        await self.on_tick(0)
        if not self.should_exit:  # `stop` may have been called before there was a loop
            await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the listener, wait for the connections, and end the application's lifespan."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:
            await asyncio.sleep(0.002)
        await self.lifespan.shutdown()


@contextlib.contextmanager
def serving(settings: Settings, port: int = 0) -> Iterator[Site]:
    """Run the web application until the block ends.

    Args:
        port: 0 for a free one.
    """
    application = create_app(settings)
    server = _Server(_config(application, port))
    with contextlib.closing(server.config.bind_socket()) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="site")
        thread.start()
        try:
            deadline = time.monotonic() + SECONDS_TO_START
            while not server.started:
                assert thread.is_alive(), "the site does not start"
                assert time.monotonic() < deadline, "the site takes too long to start"
                time.sleep(0.01)
            host, port = listener.getsockname()[:2]
            site = Site(f"http://{host}:{port}", application, settings)
            try:
                yield site
            finally:
                site.connections.end()
        finally:
            server.stop()
            thread.join()


def _config(application: FastAPI, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        host="127.0.0.1",
        port=port,
        log_level="warning",
        lifespan="on",
        ws="none",
        http=BoundedHttpProtocol,
        proxy_headers=False,
    )
