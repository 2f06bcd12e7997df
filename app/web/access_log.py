"""Keeps addresses that are secrets in themselves, and line ends, out of the logs."""

import logging
import re
from urllib.parse import quote

_SECRETS = re.compile(r"(/anonymous/|[?&]token=)[^/?&]+")


class SecretAddresses(logging.Filter):
    """Takes the secret part out of the addresses of anonymous results and password resets."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record's arguments; all records are kept."""
        if isinstance(record.args, tuple):
            record.args = tuple(without_secrets(item) if isinstance(item, str) else item for item in record.args)
        return True


def without_secrets(address: str) -> str:
    """Return an address with its secret part left out.

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
    """Let the server's access log leave secrets out."""
    log = logging.getLogger("uvicorn.access")
    if not any(isinstance(present, SecretAddresses) for present in log.filters):
        log.addFilter(SecretAddresses())
