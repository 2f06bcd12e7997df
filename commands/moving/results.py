"""Leaderboards of other servers, as results that were imported: CSV, or JSON of EvalAI's API."""

import csv
import io
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from vocboard.app.errors import InvalidInputError
from vocboard.app.forms import cleaned
from vocboard.app.leaderboards.models import ReportedKind
from vocboard.app.leaderboards.reported import MAX_METHOD_LENGTH, MAX_NOTE_LENGTH, MAX_REPORTED, Report, checked
from vocboard.client.errors import MisuseError
from vocboard.client.terminal import printable
from vocboard.commands.moving.draft import Draft
from vocboard.evaluator.problems import counted

MAX_WRONG = 10  # errors that are shown
MAX_BYTES = 10 * 1024**2
NAME_COLUMNS = ("method", "method name", "team", "team name", "participant team", "participant", "username", "user")
NOT_SHOWN = frozenset({"", "fact_sheet_answers", "rank", "#"})
_OWNER = re.compile(r"(.+)-\d+")  # how Codabench's CSV names a submission: owner and number


def reports(
    path: Path, draft: Draft, *, column: str, is_percent: bool, classes: Collection[str], source: str
) -> list[dict[str, Any]]:
    """Return the rows of a leaderboard as the API takes them, the best ones.

    Args:
        column: what ranks; empty for the first column that the configuration names.
        classes: of the competition; columns with their names are scores by class.
        source: address of the leaderboard there.

    Raises:
        MisuseError: with everything that is wrong.
    """
    rows = _rows(path)
    heads = list(rows[0]) if rows else []
    name = next((head for head in heads if head.strip().lower() in NAME_COLUMNS), next(iter(heads), ""))
    wanted = [column] if column else [text for one in draft.columns[:1] for text in (one.title, one.key)]
    score = next((head for text in wanted for head in heads if _is_called(head, text)), None)
    if score is None:
        listed = ", ".join(printable(head) for head in heads if head != name)
        raise MisuseError(f"{path}: say which column ranks, with --results-column; there are: {listed or 'none'}")
    wrong, found = [], []
    for number, row in enumerate(rows, 1):
        try:
            scores = {head: _number(row[head], is_percent=is_percent) for head in (score, *classes) if row.get(head)}
            if score in scores:
                text = _name(row[name], "fact_sheet_answers" in heads)[:MAX_METHOD_LENGTH]
                mean = scores.pop(score)
                report = Report(ReportedKind.IMPORTED, text, source, _note(row, {name, score, *classes}), mean, scores)
                found.append(checked(report, classes))
        except InvalidInputError as error:
            wrong += [f"{path}: result {number}: {field}: {message}" for field, message in error.fields.items()]
    if wrong:
        hint = "Scores are fractions here: give --percent if they are in per cent, or another --results-column."
        raise MisuseError("\n".join([*wrong[:MAX_WRONG], f"{path}: {counted(len(wrong), 'error')}. {hint}"]))
    ranking = (one for one in draft.columns if _is_called(score, one.title) or _is_called(score, one.key))
    is_ascending = next((one.is_ascending for one in ranking), False)
    found.sort(key=lambda each: each.mean or 0.0, reverse=not is_ascending)
    if len(found) < len(rows):
        draft.remarks.append(f"{len(rows) - len(found)} of {len(rows)} results have no score, and are left out.")
    if len(found) > MAX_REPORTED:
        draft.remarks.append(f"Only the best {MAX_REPORTED} of {len(found)} results are carried over.")
    return [each.columns for each in found[:MAX_REPORTED]]


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise MisuseError(f"{path} is larger than {MAX_BYTES // 1024**2} MiB")
        text = content.decode("utf-8-sig")
        if text.lstrip().startswith(("{", "[")):
            return _rows_of_evalai(path, json.loads(text))
        lines = csv.DictReader(io.StringIO(text, newline=""), restval="")
        return [{head: cell for head, cell in line.items() if head is not None} for line in lines]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise MisuseError(f"{path} cannot be read: {error}") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise MisuseError(f"{path} is neither CSV nor a leaderboard of EvalAI") from None


def _rows_of_evalai(path: Path, content: Any) -> list[dict[str, str]]:
    if isinstance(content, dict) and content.get("next"):
        raise MisuseError(f"{path} is one page of several; put the results of all pages into it")
    return [
        {
            "team": str(one["submission__participant_team__team_name"]),
            **dict(zip(map(str, one["leaderboard__schema"]["labels"]), map(str, one["result"]), strict=True)),
        }
        for one in (content["results"] if isinstance(content, dict) else content)
    ]


def _is_called(head: str, text: str) -> bool:
    """Whether a column has this name: Codabench puts that of the task before it."""
    return bool(text) and (head.strip().lower() == text.lower() or head.endswith(f")-{text}"))


def _number(text: str, *, is_percent: bool) -> float:
    try:
        return float(text) / (100 if is_percent else 1)
    except ValueError:
        raise InvalidInputError({"mean": f"“{printable(text[:40])}” is not a number."}) from None


def _name(text: str, is_of_codabench: bool) -> str:
    name = cleaned(text).strip()
    found = _OWNER.fullmatch(name) if is_of_codabench else None
    return found[1] if found else name


def _note(row: dict[str, str], shown: set[str]) -> str:
    """Return the other columns, such as “AP75 0.31; Time 12”, as many as there is room for."""
    parts: list[str] = []
    for head, cell in row.items():
        part = cleaned(f"{head.rpartition(')-')[2]} {cell}").strip()
        is_left_out = head in shown or head.strip().lower() in NOT_SHOWN or not cell
        if not is_left_out and len("; ".join([*parts, part])) <= MAX_NOTE_LENGTH:
            parts.append(part)
    return "; ".join(parts)
