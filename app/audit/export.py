"""The audit log as a file for spreadsheets, in pieces: it may be longer than memory."""

import csv
import io
import json
import uuid
from collections.abc import Iterable, Iterator, Sequence

from vocboard.app.audit import queries
from vocboard.app.audit.queries import Filters, LoggedEvent
from vocboard.app.database import Database
from vocboard.app.forms import escape_formula

COLUMNS = ("time", "who", "action", "object", "object_id", "event", "details")


def as_csv(database: Database, *, challenge_id: uuid.UUID | None, filters: Filters) -> Iterator[str]:
    """Yield RFC 4180 CSV with a header, the first event first. No transaction stays open between two pieces."""
    yield _written([COLUMNS])
    for events in batches(database, challenge_id=challenge_id, filters=filters):
        yield _written(_row(event) for event in events)


def batches(database: Database, *, challenge_id: uuid.UUID | None, filters: Filters) -> Iterator[list[LoggedEvent]]:
    """Yield all events in the order in which they happened."""
    after = None
    while True:
        with database.reading() as session:
            events = queries.batch_of_log(session, challenge_id=challenge_id, filters=filters, after=after)
        if not events:
            return
        yield events
        after = events[-1]


def _row(event: LoggedEvent) -> tuple[str, ...]:
    return (
        event.created_at.isoformat(),
        escape_formula(event.who),
        event.action,
        event.object_type,
        str(event.object_id or ""),
        escape_formula(event.text),
        json.dumps(event.details, ensure_ascii=False),
    )


def _written(rows: Iterable[Sequence[str]]) -> str:
    output = io.StringIO()
    csv.writer(output).writerows(rows)
    return output.getvalue()
