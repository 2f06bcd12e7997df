"""Addresses of servers."""

import ipaddress
from urllib.parse import urlsplit

import httpx

from vocboard.client.errors import MisuseError

OWN_PATHS = ("/api/v1", "/api/docs", "/api")  # what people copy out of the browser besides the address itself


def normalised(text: str) -> str:
    """Return a server's address in the one form it is stored under: scheme, host, port and path, no final slash.

    A missing scheme is https, or http for this very machine.

    Raises:
        MisuseError: this is no address of a web server, or it holds a name and password.

    >>> normalised("VOC.example.org/api/docs"), normalised("localhost:8000/")
    ('https://voc.example.org', 'http://localhost:8000')
    """
    given = text.strip()
    if "://" not in given:
        given = f"{'http' if is_loopback('http://' + given) else 'https'}://{given}"
    try:
        parts = urlsplit(given)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise MisuseError(f"{text!r} is not the address of a server; write https://HOST") from error
    if parts.scheme not in ("http", "https") or not host or any(character.isspace() for character in given):
        raise MisuseError(f"{text!r} is not the address of a server; write https://HOST")
    if parts.username is not None or parts.password is not None:
        raise MisuseError("leave name and password out of the address; a token is all that is needed")
    host = f"[{host}]" if ":" in host else host
    default_port = {"http": 80, "https": 443}[parts.scheme]
    path = parts.path.rstrip("/")
    for own in OWN_PATHS:
        path = path.removesuffix(own)
    address = f"{parts.scheme}://{host}{'' if port in (None, default_port) else f':{port}'}{path}"
    if not _is_possible(address):
        raise MisuseError(f"{text!r} is not the address of a server; no host can have that name")
    return address


def _is_possible(address: str) -> bool:
    """Tell whether those who will look the host up, the HTTP library and the system, take its name for one."""
    try:
        httpx.URL(address).host.encode("idna")
    except (httpx.InvalidURL, ValueError):
        return False
    return True


def is_loopback(address: str) -> bool:
    """Tell whether an address names this machine itself, where nobody listens on the way.

    >>> is_loopback("http://127.0.0.1:8000"), is_loopback("http://localhost.example.org")
    (True, False)
    """
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def can_be_overheard(address: str) -> bool:
    """Tell whether what is sent there, the token included, travels unencrypted over a network."""
    return address.startswith("http://") and not is_loopback(address)
