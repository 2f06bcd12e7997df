"""The web application over real HTTP: a server in a thread, as its own process would run it."""

import asyncio
import contextlib
import logging
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import uvicorn
from fastapi import FastAPI
from sqlalchemy.orm import Session

from tests.support import machines
from tests.support.machines import InTurn, Machines
from vocboard.app.database import Database
from vocboard.app.main import create_app
from vocboard.app.settings import Settings
from vocboard.app.web.http_protocol import BoundedHttpProtocol

SECONDS_TO_START = 30
SECONDS_TO_ANSWER = 150  # more than the server gives an upload
# Without TLS there is nothing to verify, and reading all certificates takes time; so does making a context each time.
UNVERIFIED = httpx.create_ssl_context(verify=False)


@dataclass(frozen=True, slots=True)
class Site:
    """A running web application.

    Attributes:
        url: where it answers.
    """

    url: str
    application: FastAPI
    settings: Settings

    @property
    def database(self) -> Database:
        """The application's own."""
        database: Database = self.application.state.services.database
        return database

    def url_for(self, path: str) -> str:
        """Return where it answers requests to a path."""
        return self.url

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
            base_url=self.url, headers=headers, timeout=SECONDS_TO_ANSWER, verify=UNVERIFIED, trust_env=False
        ) as client:
            yield client


class TwoMachines(Site):
    """A site of two web processes; its application is this process's own, to look into what they share."""

    _machines: Machines

    def __init__(self, application: FastAPI, settings: Settings, machines: Machines) -> None:
        for name, value in (("application", application), ("settings", settings), ("_machines", machines)):
            object.__setattr__(self, name, value)

    @property
    def url(self) -> str:
        """Where the first of them answers."""
        return self.url_for("/")

    def url_for(self, path: str) -> str:
        """Return where one of them answers requests to a path."""
        self._machines.start()
        return self._machines.url_for(path)

    @contextlib.contextmanager
    def client(self, token: str | None = None) -> Iterator[httpx.Client]:
        """Give a client whose requests they answer in turn."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        transport = InTurn(self._machines, UNVERIFIED)
        with httpx.Client(base_url=self.url, headers=headers, timeout=SECONDS_TO_ANSWER, transport=transport) as client:
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
    with _on_two_machines(settings, port) if machines.ARE_TWO else _in_a_thread(settings, port) as site:
        yield site


@contextlib.contextmanager
def _in_a_thread(settings: Settings, port: int) -> Iterator[Site]:
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
            yield Site(f"http://{host}:{port}", application, settings)
        finally:
            server.stop()
            thread.join()


@contextlib.contextmanager
def _on_two_machines(settings: Settings, port: int) -> Iterator[Site]:
    application = create_app(settings)
    application.state.services.ground_truth_inbox.set_up()
    with contextlib.closing(Machines(settings, _serve, port)) as both:
        try:
            yield TwoMachines(application, settings, both)
        finally:
            application.state.services.database.close()


def _serve(settings: Settings, listener: socket.socket) -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.__stderr__, force=True)  # which pytest shows with a failure
    application = create_app(settings)
    _Server(_config(application)).run(sockets=[listener])


def _config(application: FastAPI, port: int = 0) -> uvicorn.Config:
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
