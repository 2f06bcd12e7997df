"""Actions on the whole server: email that could not be sent, workers and their work, storage."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from vocboard.app.administering import storage, work
from vocboard.app.audit import service as audit
from vocboard.app.jobs.models import Kind
from vocboard.app.messaging import undelivered
from vocboard.app.paging import MAX_PER_PAGE
from vocboard.commands.admin.actions import ActionError, Actions, Transaction, argument
from vocboard.worker.ground_truth_directory import GroundTruthDirectory

ACTIONS = Actions()
JSON = argument("--json", action="store_true", help="print JSON")


@ACTIONS.reads(JSON)
def undelivered_mail(at: Transaction) -> str:
    """List the latest email that could not be sent, and why."""
    rows = [dataclasses.asdict(one) for one in undelivered.page_of(at.session, per_page=MAX_PER_PAGE).items]
    columns = ("id", "created_at", "recipient", "subject", "failure", "error", "next_attempt_at")
    return _listed(at, rows, columns)


@ACTIONS.changes(argument("message", nargs="*", type=UUID, metavar="ID", help="default: all that were rejected"))
def retry_mail(at: Transaction) -> str:
    """Send rejected email again."""
    for message_id in at.arguments.message:
        undelivered.retry(at.session, message_id=message_id)
    count = len(at.arguments.message) or undelivered.retry_all(at.session)
    return f"{count} to be sent again"


@ACTIONS.reads(JSON)
def status(at: Transaction) -> str:
    """Show workers, and what waits for them, runs and has failed."""
    parts = {
        "workers": [dataclasses.asdict(one) for one in work.workers(at.session)],
        "unfinished": [dataclasses.asdict(one) for one in work.unfinished(at.session)],
        "failed": [dataclasses.asdict(one) for one in work.failed(at.session)],
    }
    if at.arguments.json:
        return _json(parts)
    return "\n".join(f"{name}  {line}" for name, rows in parts.items() for line in _lines(rows))


@ACTIONS.changes(argument("kind", choices=list(map(str, Kind))), "failure")
def requeue(at: Transaction) -> str:
    """Let workers try failed jobs of a kind again that failed for this reason; see status."""
    count = work.retry(at.session, kind=Kind(at.arguments.kind), failure=at.arguments.failure)
    if not count:
        raise ActionError("No such job has failed.")
    return f"{count} to be tried again"


@ACTIONS.reads(JSON)
def show_storage(at: Transaction) -> str:
    """Show how much is stored of each challenge, as far as the database knows."""
    kept_for = at.settings.withdrawn_archives_kept_for
    rows = [
        {"challenge": one.challenge.slug, **{name: getattr(one, name) for name in _STORED}}
        for one in storage.by_challenge(at.session, withdrawn_kept_for=kept_for)
    ]
    return _listed(at, rows, ("challenge", *_STORED))


@ACTIONS.changes()
def rotate_worker_key(at: Transaction) -> str:
    """Replace the workers' key pair; uploads of ground truth that wait for their import can still be opened."""
    GroundTruthDirectory(at.settings).rotate()
    audit.record(at.session, actor=None, action="server.rotate_worker_key", subject=audit.SERVER)
    return "the workers have a new key pair"


_STORED = ("archives", "archive_bytes", "columns", "ground_truth", "files", "file_bytes")


def _listed(at: Transaction, rows: list[dict[str, Any]], columns: Iterable[str]) -> str:
    shown = [{name: row[name] for name in columns} for row in rows]
    return _json(shown) if at.arguments.json else "\n".join(_lines(shown))


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for row in rows:
        yield "  ".join(f"{name}={_text(value)}" for name, value in row.items() if value not in {None, ""})


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, default=_text)


def _text(value: Any) -> str:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else str(value)
