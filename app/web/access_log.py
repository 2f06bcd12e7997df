"""Removes secrets in URLs, and line breaks, from logs."""

import logging
import re
from urllib.parse import quote

_SECRETS = re.compile(r"(/anonymous/|[?&]token=)[^/?&]+")


class SecretAddresses(logging.Filter):
    """Logging filter that removes the secret part from URLs of anonymous results and password resets."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record's arguments. Keeps all records."""
        if isinstance(record.args, tuple):
            record.args = tuple(without_secrets(item) if isinstance(item, str) else item for item in record.args)
        return True


def without_secrets(address: str) -> str:
    """Return a URL without its secret part.

    >>> without_secrets("/anonymous/8kZ3?competition=comp4")
    '/anonymous/…?competition=comp4'
    """
    return _SECRETS.sub(r"\1…", address)


def loggable(path: str) -> str:
    """Return the path of a request as one line of a log may hold it: no line ends, nothing secret.

    >>> loggable("/challenges/a\\nINFO all is well")
    '/challenges/a%0AINFO%20all%20is%20well'
    """
    return without_secrets(quote(path))


def install() -> None:
    """Install the filter in the server's access log."""
    log = logging.getLogger("uvicorn.access")
    if not any(isinstance(present, SecretAddresses) for present in log.filters):
        log.addFilter(SecretAddresses())
