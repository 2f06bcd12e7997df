"""Addresses that people enter and pages link to."""

from urllib.parse import urlsplit

from vocboard.app.forms.fields import FieldChecks

MAX_LINK_LENGTH = 500
_SCHEMES = frozenset({"http", "https"})


def checked_link(checks: FieldChecks, field: str, value: str) -> str:
    """Return the address of a page elsewhere, or nothing; record an error if it is not an http(s) address.

    >>> checks = FieldChecks()
    >>> checked_link(checks, "paper_url", " https://arxiv.org/abs/1311.2524 ")
    'https://arxiv.org/abs/1311.2524'
    >>> checked_link(checks, "code_url", "javascript:alert(1)")
    'javascript:alert(1)'
    >>> list(checks.messages)
    ['code_url']
    """
    link = checks.line(field, value, max_length=MAX_LINK_LENGTH)
    if link and not is_address(link):
        checks.fail(field, "Enter a whole address that begins with https:// or http://, without spaces.")
    return link


def is_address(link: str) -> bool:
    """Whether a text is an http(s) address that pages can link to."""
    if any(character.isspace() or character in '<>"\\^`{|}' for character in link):
        return False
    try:
        parts = urlsplit(link)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    # What is before an @ looks like the host, and is not.
    return parts.scheme in _SCHEMES and bool(host) and "@" not in parts.netloc
