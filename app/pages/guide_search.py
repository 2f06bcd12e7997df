"""Search in the documentation, with the full-text index of SQLite in memory."""

import re
import sqlite3
from dataclasses import dataclass
from functools import cache
from threading import Lock

from markupsafe import Markup, escape

from vocboard.app.pages.markdown import document
from vocboard.app.web.guides import PREFIX, documents

MAX_LENGTH = 200  # of what is searched for, in characters
MAX_FOUND = 20
_WEIGHTS = "5, 10, 1"  # of the title of the document, of the section and of its text
_WORDS = 24  # in the excerpt
_BEGIN, _END = "\x02", "\x03"  # of a match in the excerpt; not in the documents
_lock = Lock()  # one thread at a time may use the connection


@dataclass(frozen=True, slots=True)
class Found:
    """A section of a document.

    Attributes:
        title: of the section; empty at the beginning of a document.
        excerpt: with the matches in `mark` elements.
    """

    address: str
    document: str
    title: str
    excerpt: Markup


def search(wanted: str) -> list[Found]:
    """Return the sections that have all words, or words that begin with them, the best first.

    >>> [found.address for found in search("ladder mechan")][0]
    '/docs/detail-levels#the-ladder-mechanism'
    """
    words = re.findall(r"\w+", wanted[:MAX_LENGTH])
    if not words:
        return []
    query = " ".join(f'"{word}"*' for word in words)
    statement = f"""
        SELECT address, document, title, snippet(sections, 3, ?, ?, '…', {_WORDS}) FROM sections
        WHERE sections MATCH ? ORDER BY bm25(sections, 0, {_WEIGHTS}), address LIMIT {MAX_FOUND}
    """  # noqa: S608 - only constants are inserted
    with _lock:
        rows = _index().execute(statement, (_BEGIN, _END, query)).fetchall()
    return [Found(address, of, title, _marked(excerpt)) for address, of, title, excerpt in rows]


@cache
def _index() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute(
        "CREATE VIRTUAL TABLE sections USING fts5(address UNINDEXED, document, title, text, tokenize = 'porter')"
    )
    for name in documents():
        found = document(name)
        rows = [
            (f"{PREFIX}/{name}{'#' if each.anchor else ''}{each.anchor}", found.title, each.title, each.text)
            for each in found.sections
        ]
        connection.executemany("INSERT INTO sections VALUES (?, ?, ?, ?)", rows)
    return connection


def _marked(excerpt: str) -> Markup:
    return escape(excerpt).replace(_BEGIN, Markup("<mark>")).replace(_END, Markup("</mark>"))
