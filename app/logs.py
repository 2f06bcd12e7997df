"""Logs of all processes: a line of text or a JSON object for each event, with what it is about by id.

No line has an email address: whatever looks like one is replaced, since answers of mail servers and of the database
quote them. Callers log no contents of uploads, names of files, passwords or tokens.
"""

import json
import logging
import logging.config
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from vocboard.app.settings import LogFormat

REQUEST = "request"
DETAILS = "details"  # of a record, given as `extra`: further members of the JSON object, without email addresses

# Also as it is in the address of a page on which somebody was searched, or in one that this leads to.
_ADDRESS = re.compile(r"[^\s@<>()\[\]{}\"'=,;:/|\\]{1,64}(?:@|%(?:25)*40)(?:[\w-]+\.)+[^\W\d_]{2,}")
_about: ContextVar[dict[str, str]] = ContextVar("about")


@contextmanager
def about(**ids: object) -> Iterator[None]:
    """Add ids to what the block logs; not in threads that it starts itself."""
    token = _about.set({**_about.get({}), **{name: str(value) for name, value in ids.items() if value is not None}})
    try:
        yield
    finally:
        _about.reset(token)


def note(**ids: object) -> None:
    """Add ids to what the innermost `about` block logs from now on, also if this is called in one of its threads."""
    _about.get({}).update({name: str(value) for name, value in ids.items()})


def without_addresses(text: str) -> str:
    """Return a text without email addresses.

    >>> without_addresses("550 <ada@lab.example>: no such user; see postgresql://vocboard:***@postgres:5432")
    '550 <…@…>: no such user; see postgresql://vocboard:***@postgres:5432'
    """
    return _ADDRESS.sub("…@…", text)


class Lines(logging.Formatter):
    """Lines of text: the time, the level, the logger, in brackets the request's id and others, the message."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s%(about)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return a record's line, or several if it has a traceback."""
        ids = [value if name == REQUEST else f"{name}={value}" for name, value in _about.get({}).items()]
        record.about = f" [{' '.join(ids)}]" if ids else ""
        return without_addresses(super().format(record))


class JsonLines(logging.Formatter):
    """A JSON object in a line, also if it has a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record's line."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": without_addresses(record.getMessage()),
            **_about.get({}),
            **getattr(record, DETAILS, {}),
        }
        if record.exc_info:
            entry["traceback"] = without_addresses(self.formatException(record.exc_info))
        return json.dumps(entry, ensure_ascii=False, default=str)


def configuration(chosen: LogFormat) -> dict[str, Any]:
    """Return what `logging.config.dictConfig` takes; uvicorn configures each of its processes by it."""
    formatter = JsonLines if chosen is LogFormat.JSON else Lines
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": f"{__name__}.{formatter.__name__}"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"level": "INFO", "handlers": ["stderr"]},
    }


def configure(chosen: LogFormat) -> None:
    """Let this process log like that."""
    logging.config.dictConfig(configuration(chosen))
