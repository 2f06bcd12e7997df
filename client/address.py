"""Addresses of servers."""

import ipaddress
from urllib.parse import urlsplit

import httpx

from vocboard.client.errors import MisuseError

OWN_PATHS = ("/api/v1", "/api/docs", "/api")  # paths that people copy from the browser along with the address


def normalised(text: str) -> str:
    """Return a server's address in canonical form: scheme, host, port and path, without a trailing slash.

    The scheme defaults to https, or to http for this machine.

    Raises:
        MisuseError: the text is not the address of a web server, or contains a user name and password.

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
        raise MisuseError(f"{text!r} is not a server address; use the form https://HOST") from error
    if parts.scheme not in ("http", "https") or not host or any(character.isspace() for character in given):
        raise MisuseError(f"{text!r} is not a server address; use the form https://HOST")
    if parts.username is not None or parts.password is not None:
        raise MisuseError("remove the user name and password from the address; only a token is needed")
    host = f"[{host}]" if ":" in host else host
    default_port = {"http": 80, "https": 443}[parts.scheme]
    path = parts.path.rstrip("/")
    for own in OWN_PATHS:
        path = path.removesuffix(own)
    address = f"{parts.scheme}://{host}{'' if port in (None, default_port) else f':{port}'}{path}"
    if not _is_possible(address):
        raise MisuseError(f"{text!r} is not a server address: the host name is invalid")
    return address


def _is_possible(address: str) -> bool:
    """Return whether the HTTP library and the system's resolver accept the host name."""
    try:
        httpx.URL(address).host.encode("idna")
    except (httpx.InvalidURL, ValueError):
        return False
    return True


def is_loopback(address: str) -> bool:
    """Return whether an address is this machine, so that traffic never crosses a network.

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
    """Return whether requests to this address, with the token, cross a network unencrypted."""
    return address.startswith("http://") and not is_loopback(address)
