"""Sends one request to the address of a webhook, which somebody has typed: it must not reach the server's own network.

The name is resolved here, every address that it has is checked, and the connection is made to a checked one; the
certificate is verified for the name. Redirects are not followed, proxies are not used, and the answer is not read.
"""

import ipaddress
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
import httpx

from vocboard.evaluator.version import VERSION

SECONDS = 10.0  # for everything together
_PORTS = {"https": 443, "http": 80}
# Which lead to IPv4 addresses within: NAT64, 6to4, Teredo.
_TRANSLATED = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")))


class ForbiddenAddressError(Exception):
    """The name has an address that is not public."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request.

    Attributes:
        status: of the HTTP response; None without one.
        error: what was wrong then, in a few words that reveal nothing of the server's network.
    """

    status: int | None
    error: str = ""

    @property
    def is_success(self) -> bool:
        """Whether the receiver has taken it."""
        return self.status is not None and 200 <= self.status < 300


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet.

    >>> [is_public(each) for each in ("8.8.8.8", "10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1")]
    [True, False, False, False, False, False]
    >>> [is_public(each) for each in ("2606:4700::1", "64:ff9b::a00:1", "fd00::1", "100.64.0.1", "224.0.0.1")]
    [True, False, False, False, False]
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return is_public(str(found.ipv4_mapped))
        if any(found in network for network in _TRANSLATED):
            return False
    return found.is_global and not found.is_multicast


def post(url: str, body: str, headers: Mapping[str, str], *, anywhere: bool = False) -> Answer:
    """Send a body.

    Args:
        anywhere: whether addresses of private networks are allowed, for tests.
    """
    return anyio.run(_post, url, body, dict(headers), anywhere)


async def _post(url: str, body: str, headers: dict[str, str], anywhere: bool) -> Answer:
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        with anyio.fail_after(SECONDS):
            address = await _resolved(host, parts.port or _PORTS[parts.scheme], anywhere)
            target = httpx.URL(url).copy_with(host=address)
            sent = {"Host": parts.netloc, "Content-Type": "application/json", "User-Agent": f"vocboard/{VERSION}"}
            async with (
                httpx.AsyncClient(
                    verify=ssl.create_default_context(), trust_env=False, follow_redirects=False, timeout=SECONDS
                ) as client,
                client.stream(
                    "POST",
                    target,
                    content=body.encode(),
                    headers={**sent, **headers},
                    extensions={"sni_hostname": host} if parts.scheme == "https" else {},
                ) as response,
            ):
                return Answer(response.status_code)
    except (ForbiddenAddressError, socket.gaierror):  # alike, or it would tell which names the server's network has
        return Answer(None, "no public address")
    except (TimeoutError, httpx.TimeoutException):
        return Answer(None, "no answer in time")
    except httpx.ConnectError as error:
        return Answer(None, "certificate not valid" if "CERTIFICATE_VERIFY" in str(error) else "no connection")
    except (httpx.HTTPError, httpx.InvalidURL):
        return Answer(None, "connection lost")


async def _resolved(host: str, port: int, anywhere: bool) -> str:
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = sorted((str(one[4][0]) for one in found), key=lambda address: ":" in address)  # IPv4 first
    if not anywhere and not all(map(is_public, addresses)):
        raise ForbiddenAddressError
    return addresses[0]
