"""A TCP relay that counts what clients send, holds it back from a chosen byte on, and fails as networks do."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

PIECE_BYTES = 64 * 1024
HEAD_BYTES = 16 * 1024  # at most, of a request to open a tunnel
SECONDS_TO_ARRIVE = 120.0
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset instead of the rest


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection of a client, and the one to the server."""

    client: socket.socket
    server: socket.socket

    def close(self) -> None:
        """Close both ends. Idempotent."""
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def reset(self) -> None:
        """Close both ends as a broken network does."""
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.close()


class Relay:
    """Relays connections to one server.

    Attributes:
        url: where it listens.
        port: of the server on this machine; new connections go there when it changes.
        sent: bytes from all clients so far, those that it holds back included.
        delay: seconds for which it keeps each piece, either way.

    Args of the constructor:
        opens_tunnels: whether clients ask for a tunnel first, as through the proxy of an institution (CONNECT).
    """

    def __init__(self, port: int, *, opens_tunnels: bool = False) -> None:
        self.sent = 0
        self.port = port
        self.delay = 0.0
        self._opens_tunnels = opens_tunnels
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._changed = threading.Condition()
        self._held_from: int | None = None
        self._is_cut = self._is_away = False
        self._connections: set[Connection] = set()

    def hold_from(self, count: int) -> None:
        """Hold back what clients send once `sent` has reached this; whatever is held back now goes on."""
        with self._changed:
            self._held_from = count
            self._changed.notify_all()

    def release(self) -> None:
        """Hold nothing back."""
        with self._changed:
            self._held_from = None
            self._changed.notify_all()

    def wait_until_held(self) -> int:
        """Wait until something is held back, and return `sent`.

        Raises:
            TimeoutError: nothing is after `SECONDS_TO_ARRIVE`.
        """
        with self._changed:
            if not self._changed.wait_for(self._is_holding, SECONDS_TO_ARRIVE):
                raise TimeoutError(f"only {self.sent:,} bytes were sent, {self._held_from} are awaited")
            return self.sent

    def wait_until_idle(self) -> None:
        """Wait until there is no connection.

        Raises:
            TimeoutError: there still is one after `SECONDS_TO_ARRIVE`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: not self._connections, SECONDS_TO_ARRIVE):
                raise TimeoutError(f"{len(self._connections)} connections are still open")

    def reset(self) -> None:
        """Reset all connections."""
        with self._changed:
            connections = list(self._connections)
        for connection in connections:
            connection.reset()

    @contextlib.contextmanager
    def cut(self) -> Iterator[None]:
        """Let nothing pass either way until the block ends, without a word to either side."""
        with self._changed:
            self._is_cut = True
        try:
            yield
        finally:
            with self._changed:
                self._is_cut = False
                self._changed.notify_all()

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Reset all connections, and new ones until the block ends, as if the server had been killed."""
        self._is_away = True
        self.reset()
        try:
            yield
        finally:
            self._is_away = False

    def serve(self) -> None:
        """Relay until the listener is closed."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def close(self) -> None:
        """Stop."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._is_cut = False
        self.release()
        self.reset()

    def _relay(self, client: socket.socket) -> None:
        try:
            if self._opens_tunnels:
                _open_tunnel(client)
            self._pass()
            server = socket.create_connection(("127.0.0.1", self.port))
        except OSError:  # the server is away
            client.close()
            return
        connection = Connection(client, server)
        with self._changed:
            self._connections.add(connection)
        if self._is_away:
            connection.reset()
        answers = threading.Thread(target=self._relay_answers, args=(connection,), daemon=True)
        answers.start()
        with contextlib.suppress(OSError):
            while piece := client.recv(PIECE_BYTES):
                self._count(len(piece))
                self._pass()
                server.sendall(piece)
        with contextlib.suppress(OSError):  # also where the client was lost
            server.shutdown(socket.SHUT_WR)
        answers.join()
        connection.close()
        with self._changed:
            self._connections.discard(connection)
            self._changed.notify_all()

    def _relay_answers(self, connection: Connection) -> None:
        with contextlib.suppress(OSError):
            while piece := connection.server.recv(PIECE_BYTES):
                self._pass()
                connection.client.sendall(piece)
        with contextlib.suppress(OSError):
            connection.client.shutdown(socket.SHUT_RDWR)

    def _count(self, count: int) -> None:
        with self._changed:
            self.sent += count
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._is_holding())

    def _pass(self) -> None:
        """Wait as long as the network is slow or cut."""
        time.sleep(self.delay)
        with self._changed:
            self._changed.wait_for(lambda: not self._is_cut)

    def _is_holding(self) -> bool:
        return self._held_from is not None and self.sent >= self._held_from


@contextlib.contextmanager
def relaying(port: int, *, opens_tunnels: bool = False) -> Iterator[Relay]:
    """Run a relay to a port of this machine until the block ends."""
    relay = Relay(port, opens_tunnels=opens_tunnels)
    thread = threading.Thread(target=relay.serve, name="relay", daemon=True)
    thread.start()
    try:
        yield relay
    finally:
        relay.close()
        thread.join()


def _open_tunnel(client: socket.socket) -> None:
    """Agree to open a tunnel, to wherever it is asked for."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = client.recv(1)
        if not piece or len(head) > HEAD_BYTES:
            raise ConnectionError("no request to open a tunnel")
        head += piece
    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
