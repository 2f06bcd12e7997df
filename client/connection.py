"""A connection to a server: requests, retries, and error responses as exceptions."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from vocboard.client.address import is_loopback
from vocboard.client.bodies import whole
from vocboard.client.errors import CertificateError, ClientError, NetworkError, UnexpectedAnswerError
from vocboard.client.refusals import refusal, retry_after
from vocboard.client.terminal import printable

API = "/api/v1"
# Only validating an upload takes long: the server limits its time, but it may first wait for a free process.
CONNECT_SECONDS = 15.0
# Servers close a connection that is idle for 5 s; a request that is sent at that moment gets no answer.
POOL = httpx.Limits(keepalive_expiry=2.0)
READ_TIMEOUT_SECONDS = 60.0
CHECKING_SECONDS = 600.0
PAUSES_SECONDS = (0.5, 2.0, 5.0)  # before each retry
MAX_PAUSE_SECONDS = 30.0  # if the server asks for more, report it instead of waiting
TEMPORARY_STATUSES = frozenset({502, 503, 504})

FieldValue = str | list[str]
Answer = Any  # decoded JSON; `client.answers` gives it types


class Connection:
    """Requests to one server as one user.

    Reads are retried on network errors and on 502, 503 and 504. Requests that change something are not retried
    here; those of uploads are, in `client.submitting`. Redirects are not followed, because the token must only go to
    this server.

    Args:
        address: the server's address, from `client.address.normalised`.
        token: API token; None to read only public data.
        transport: for tests; None for the network.
        sleep: for tests.

    Raises:
        ClientError: a certificate file or proxy set in the environment cannot be used.
    """

    def __init__(
        self,
        address: str,
        token: str | None,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        headers = {"User-Agent": f"vocboard/{version('vocboard')}"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self.address = address
        self._sleep = sleep
        try:
            self._client = httpx.Client(
                base_url=address + API,
                headers=headers,
                timeout=_timeout(READ_TIMEOUT_SECONDS),
                limits=POOL,
                follow_redirects=False,
                mounts=_no_proxy_for_loopback(address),
                transport=transport,
            )
        except (OSError, ValueError, ImportError) as error:  # certificates and proxies are read here
            raise ClientError(
                f"SSL_CERT_FILE, SSL_CERT_DIR or the proxy in the environment cannot be used: {printable(str(error))}"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def get(self, path: str, parameters: Mapping[str, str | int] | None = None) -> Answer:
        """Read a JSON document.

        Raises:
            ClientError: see `client.errors`.
        """
        return self._decoded(self._read(path, parameters, "application/json"))

    def get_page(self, path: str, parameters: Mapping[str, str | int]) -> tuple[Answer, dict[str, str | int] | None]:
        """Read a page of a list, and return also the parameters of the next one; None if there is none.

        Raises:
            ClientError: see `client.errors`.
        """
        answer = self._read(path, parameters, "application/json")
        following = answer.links.get("next", {}).get("url")
        return self._decoded(answer), None if following is None else dict(httpx.URL(following).params)

    def get_text(self, path: str, parameters: Mapping[str, str | int] | None = None, *, accept: str) -> str:
        """Read a document of another media type, such as `text/csv`, as text.

        Raises:
            ClientError: see `client.errors`.
        """
        answer = self._read(path, parameters, accept)
        if answer.headers.get("Content-Type", "").partition(";")[0].strip() != accept:
            raise self._unexpected()
        return answer.text

    def chunks(self, path: str) -> Iterator[bytes]:
        """Read a file of any size in pieces, each once, also after a lost connection.

        Raises:
            ClientError: see `client.errors`.
        """
        received, pauses = 0, [*PAUSES_SECONDS]
        while True:
            headers = {"Accept": "application/octet-stream"} | ({"Range": f"bytes={received}-"} if received else {})
            wait = 0.0
            try:
                # The server may have the file elsewhere; the token is sent to no other host.
                with self._client.stream("GET", path, headers=headers, follow_redirects=True) as answer:
                    wait = retry_after(answer) or 0.0
                    if not pauses or answer.status_code not in TEMPORARY_STATUSES or wait > MAX_PAUSE_SECONDS:
                        self._successful(answer if answer.is_success else whole(answer, self.address))
                        # Only object stores send the rest alone.
                        known = 0 if answer.status_code == httpx.codes.PARTIAL_CONTENT else received
                        for piece in answer.iter_raw():
                            new, known = piece[known:], max(0, known - len(piece))
                            if new:
                                received, pauses = received + len(new), [*PAUSES_SECONDS]
                                yield new
                        return
            except httpx.RequestError as error:
                lost = self._unreachable(error)
                if not pauses or isinstance(lost, CertificateError):
                    raise lost from error
            self._sleep(max(pauses.pop(0), wait))

    def patch(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Send a PATCH request; see `post`."""
        return self.post(path, body, method="PATCH")

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, method: str = "POST") -> Answer:
        """Send a POST request, and return the response. Never retried.

        Args:
            body: sent as JSON; None for a request without one.

        Raises:
            ClientError: see `client.errors`.
        """
        headers = {"Accept": "application/json"}
        try:
            answer = self._request(method, path, headers=headers, json=dict(body) if body else None)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unreachable(error) from error
        except httpx.RequestError as error:
            raise NetworkError(
                f"the connection to {self.address} was lost before the server responded; check whether the change was "
                f"made before you try again"
            ) from error
        return self._decoded(self._successful(answer))

    def submit(self, path: str, parameters: Mapping[str, str], fields: Mapping[str, FieldValue]) -> Answer:
        """Send a form without a file, and return the response. The caller knows whether it can be repeated.

        Args:
            path: below the API's root.
            fields: a list for a repeated field.

        Raises:
            ClientError: see `client.errors`.
        """
        values = [
            (name, value) for name, given in fields.items() for value in (given if isinstance(given, list) else [given])
        ]
        answer = self.send(
            "POST",
            path,
            parameters,
            headers={"Accept": "application/json"},
            files=[(name, (None, value)) for name, value in values],
            read_timeout_seconds=CHECKING_SECONDS,
        )
        return self._decoded(answer)

    def send(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str],
        content: Iterator[bytes] | None = None,
        files: Sequence[tuple[str, tuple[None, str]]] | None = None,
        read_timeout_seconds: float = READ_TIMEOUT_SECONDS,
    ) -> httpx.Response:
        """Send a request once, and return the successful response.

        Args:
            content: the body, of the length that the headers announce.
            files: the parts of a multipart form.
            read_timeout_seconds: maximum time until the response begins.

        Raises:
            ClientError: see `client.errors`.
        """
        try:
            answer = self._request(
                method,
                path,
                params=parameters,
                headers=headers,
                content=content,
                files=files,
                timeout=_timeout(read_timeout_seconds),
            )
        except httpx.RequestError as error:
            raise self._unreachable(error) from error
        return self._successful(answer)

    def sleep(self, seconds: float) -> None:
        """Wait before the next attempt."""
        self._sleep(seconds)

    @contextmanager
    def events(self, path: str, *, read_timeout_seconds: float) -> Iterator[Iterator[str]]:
        """Open a stream of server-sent events, and yield its lines until the server closes it.

        Args:
            path: below the API's root.
            read_timeout_seconds: maximum time between two lines; the server sends comments to keep the stream alive.

        Raises:
            ClientError: see `client.errors`; also raised while the lines are read.
        """
        timeout = _timeout(read_timeout_seconds)
        try:
            with self._client.stream("GET", path, headers={"Accept": "text/event-stream"}, timeout=timeout) as answer:
                self._successful(answer if answer.is_success else whole(answer, self.address))
                if not answer.headers.get("Content-Type", "").startswith("text/event-stream"):
                    raise self._unexpected()
                yield answer.iter_lines()
        except httpx.RequestError as error:
            raise self._unreachable(error) from error

    def _read(self, path: str, parameters: Mapping[str, str | int] | None, accept: str) -> httpx.Response:
        for pause in PAUSES_SECONDS:
            wait = pause
            try:
                answer = self._read_once(path, parameters, accept)
            except CertificateError:
                raise
            except NetworkError:
                pass
            else:
                wait = max(pause, retry_after(answer) or 0.0)
                if answer.status_code not in TEMPORARY_STATUSES or wait > MAX_PAUSE_SECONDS:
                    return self._successful(answer)
            self._sleep(wait)
        return self._successful(self._read_once(path, parameters, accept))

    def _read_once(self, path: str, parameters: Mapping[str, str | int] | None, accept: str) -> httpx.Response:
        try:
            return self._request("GET", path, params=parameters, headers={"Accept": accept})
        except httpx.RequestError as error:
            raise self._unreachable(error) from error

    def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        with self._client.stream(method, path, **options) as answer:
            return whole(answer, self.address)

    def _successful(self, answer: httpx.Response) -> httpx.Response:
        if answer.is_redirect:
            target = answer.headers.get("Location", "elsewhere")
            raise UnexpectedAnswerError(
                f"{self.address} redirects to {printable(target)}; if you trust that server, log in with that address"
            )
        if not answer.is_success:
            raise refusal(answer, self.address)
        return answer

    def _decoded(self, answer: httpx.Response) -> Answer:
        if answer.status_code == httpx.codes.NO_CONTENT:
            return None
        try:
            return answer.json()
        except (ValueError, RecursionError) as error:  # RecursionError: nested too deeply
            raise self._unexpected() from error

    def _unexpected(self) -> UnexpectedAnswerError:
        return UnexpectedAnswerError(f"{self.address} is not a vocboard server; check the address")

    def _unreachable(self, error: httpx.RequestError) -> NetworkError:
        if _is_certificate_error(error):
            return CertificateError(
                f"the certificate of {self.address} cannot be verified; if your institution has its own certificate "
                f"authority, set SSL_CERT_FILE to that authority's certificate file"
            )
        if isinstance(error, httpx.TimeoutException):
            return NetworkError(f"{self.address} did not respond in time; try again later")
        reason = printable(str(error)) or type(error).__name__
        return NetworkError(f"cannot reach {self.address} ({reason}); check the address and your network")


def _timeout(read_timeout_seconds: float) -> httpx.Timeout:
    return httpx.Timeout(READ_TIMEOUT_SECONDS, connect=CONNECT_SECONDS, read=read_timeout_seconds)


def _no_proxy_for_loopback(address: str) -> dict[str, None]:
    """Exempt this machine from the proxies that the environment sets."""
    host = urlsplit(address).hostname or ""
    return {f"all://{f'[{host}]' if ':' in host else host}": None} if is_loopback(address) else {}


def _is_certificate_error(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return "CERTIFICATE_VERIFY_FAILED" in str(error)
