"""The reverse proxy of docker-compose.yml: a real Caddy with the file's Caddyfile, before the web process."""

import contextlib
import os
import shutil
import signal
import ssl
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.compose import ROOT
from tests.support.installation import HOST, Installation
from tests.support.processes import UnavailableError, free_port, listening, temporary_directory

CADDYFILE = ROOT / "deploy" / "proxy" / "Caddyfile"
ROOT_CERTIFICATE = Path("caddy") / "pki" / "authorities" / "local" / "root.crt"


@dataclass(frozen=True)
class Proxy:
    """A running proxy.

    Attributes:
        https_port, http_port: where it listens on this machine.
        authority: file with the certificate of its authority.
    """

    https_port: int
    http_port: int
    authority: Path

    @contextlib.contextmanager
    def client(self, headers: Mapping[str, str] | None = None) -> Iterator[httpx.Client]:
        """Give a client that takes this machine for the server's name, and verifies its certificate."""
        with httpx.Client(
            base_url=f"https://127.0.0.1:{self.https_port}",
            headers={"Host": HOST, **(headers or {})},
            transport=_NamedTransport(verify=ssl.create_default_context(cafile=str(self.authority))),
            trust_env=False,
            timeout=60,
        ) as client:
            yield client


class _NamedTransport(httpx.HTTPTransport):
    """Asks for the server's name in the TLS handshake, whatever the address."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.extensions = {**request.extensions, "sni_hostname": HOST}
        return super().handle_request(request)


def proxied(installation: Installation, *, public_port: str = "443") -> AbstractContextManager[Proxy]:
    """Run Caddy in front of an installation until the block ends; see `in_front_of`."""
    return in_front_of(installation.url, installation.services["proxy"].environment, public_port=public_port)


@contextlib.contextmanager
def in_front_of(web: str, environment: Mapping[str, str], *, public_port: str = "443") -> Iterator[Proxy]:
    """Run Caddy in front of a web process until the block ends.

    Args:
        web: URL of the web process, or of several, with a space between.
        environment: variables of the Caddyfile, as docker-compose.yml gives them.
        public_port: the port that the outside sees, as in .env.

    Raises:
        UnavailableError: there is no Caddy on this machine.
        AssertionError: it does not start.
    """
    program = shutil.which("caddy")
    if program is None:
        raise UnavailableError("no Caddy: install the package caddy")
    directory = temporary_directory("")
    http_port = free_port()
    given = {
        "PATH": os.environ["PATH"],
        "XDG_DATA_HOME": str(directory / "data"),
        "XDG_CONFIG_HOME": str(directory / "config"),
        **environment,
        "VOCBOARD_HTTPS_PORT": public_port,
        "VOCBOARD_WEB": web.replace("http://", ""),
    }
    file = directory / "Caddyfile"

    def command(port: int) -> list[str]:
        text = CADDYFILE.read_text().replace("http_port 8080", f"http_port {http_port}")
        file.write_text(text.replace("https_port 8443", f"https_port {port}"))
        variables = [f"{name}={value}" for name, value in given.items()]
        return ["/usr/bin/env", "-i", *variables, program, "run", "--config", str(file), "--adapter", "caddyfile"]

    certificate = directory / "data" / ROOT_CERTIFICATE
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        server = listening(
            command,
            directory=directory,
            user="",
            stop_signal=signal.SIGTERM,
            answers=lambda port: certificate.exists() and answers(port, certificate),
        )
        try:
            port = stack.enter_context(server)
        except UnavailableError as error:
            raise AssertionError(f"Caddy is there, but does not take our Caddyfile: {error}") from error
        yield Proxy(port, http_port, certificate)


def answers(port: int, certificate: Path) -> bool:
    """Tell whether it serves over TLS yet."""
    proxy = Proxy(port, 0, certificate)
    with contextlib.suppress(httpx.TransportError, ssl.SSLError), proxy.client() as client:  # half a certificate
        return client.get("/healthz").status_code == httpx.codes.OK
    return False
