"""A mail server as a process of its own: takes every message, and writes it into a directory.

Usage: smtp_process.py PORT DIRECTORY [--tls CERTIFICATE KEY] [--user NAME PASSWORD] [--refuse ADDRESS]
    [--defer ADDRESS]
"""

import argparse
import asyncio
import ssl
import time
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session


class ToDirectory:
    """Writes each message as a file."""

    def __init__(self, directory: Path, refused: str, deferred: str) -> None:
        self._directory = directory
        self._refused, self._deferred = refused, deferred

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Permanently reject one address, and another one for now."""
        if address == self._refused:
            return "550 5.1.1 no such mailbox"
        if address == self._deferred:
            return "450 4.2.0 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Write a message atomically."""
        assert isinstance(envelope.content, bytes)
        partial = self._directory / f"{time.time_ns():020d}.partial"
        head = f"X-Tls: {session.ssl is not None}\r\nX-User: {session.auth_data or ''}\r\n".encode()
        partial.write_bytes(head + envelope.content)
        partial.rename(partial.with_suffix(".eml"))
        return "250 taken"


async def serve(arguments: argparse.Namespace) -> None:
    """Serve until killed."""
    context = None
    if arguments.tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*arguments.tls)

    def authenticate(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: object) -> AuthResult:
        given = (getattr(data, "login", b"").decode(), getattr(data, "password", b"").decode())
        matches = given == tuple(arguments.user or ())
        return AuthResult(success=matches, auth_data=given[0])

    handler = ToDirectory(arguments.directory, arguments.refuse, arguments.defer)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(
            handler,
            hostname="localhost",
            tls_context=context,
            authenticator=authenticate,
            auth_required=bool(arguments.user),
            auth_require_tls=True,
            loop=loop,
        ),
        "127.0.0.1",
        arguments.port,
    )
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--user", nargs=2)
    parser.add_argument("--refuse", default="")
    parser.add_argument("--defer", default="")
    asyncio.run(serve(parser.parse_args()))
