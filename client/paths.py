"""Paths and parameters of the API."""

from urllib.parse import quote

from vocboard.client.errors import MisuseError


def phase_parameter(key: str | None) -> dict[str, str]:
    """Return the parameter of an address that names a phase; nothing for the current phase."""
    return {} if key is None else {"phase": key}


def path(*parts: str) -> str:
    """Return a path below the API's root, with its parts URL-encoded.

    Raises:
        MisuseError: a part is empty or consists of dots, which would change the path.

    >>> path("challenges", "../me")
    '/challenges/..%2Fme'
    """
    if any(not part.strip(".") for part in parts):
        raise MisuseError("a name is missing")
    return "".join(f"/{quote(part, safe='')}" for part in parts)
