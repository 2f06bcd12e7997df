"""All scores of a challenge as one long table, for spreadsheets and data frames: CSV and Parquet."""

import csv
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from vocboard.app.forms import escape_formula
from vocboard.app.transfer.records import SubmissionRecord

_SCHEMA = pa.schema(
    [
        ("submission", pa.string()),
        ("phase", pa.string()),  # its key
        ("submitted_at", pa.timestamp("us", tz="UTC")),
        ("person", pa.string()),
        ("method", pa.string()),
        ("state", pa.string()),
        ("published", pa.bool_()),
        ("competition", pa.string()),
        ("metric", pa.string()),
        ("class", pa.string()),  # null for the mean
        ("score", pa.float64()),  # a fraction, unrounded; null where undefined
    ]
)
_TEXTS = ("person", "method", "class")


class ScoreTables:
    """Writes the two files row group by row group; use it in a `with` block."""

    def __init__(self, csv_path: Path, parquet_path: Path) -> None:
        self._file = csv_path.open("w", encoding="utf-8", newline="")
        self._csv = csv.writer(self._file)
        self._csv.writerow(_SCHEMA.names)
        self._parquet = pq.ParquetWriter(parquet_path, _SCHEMA, compression="zstd")

    def add(self, submissions: list[SubmissionRecord], names: dict[Any, str]) -> None:
        """Write the scores of some submissions.

        Args:
            names: of people, by id.
        """
        rows = [row for one in submissions for row in _rows(one, names[one.person])]
        if not rows:
            return
        columns = [[row[name] for row in rows] for name in _SCHEMA.names]
        self._parquet.write_table(pa.table(columns, schema=_SCHEMA))
        for row in rows:
            written = {**row, "submitted_at": row["submitted_at"].isoformat()}
            written |= {name: escape_formula(written[name]) for name in _TEXTS if written[name]}
            self._csv.writerow("" if written[name] is None else written[name] for name in _SCHEMA.names)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._parquet.close()
        self._file.close()


def _rows(submission: SubmissionRecord, person: str) -> Iterator[dict[str, Any]]:
    if submission.evaluation is None:
        return
    common = {
        "submission": str(submission.id),
        "phase": submission.phase,
        "submitted_at": submission.created_at,
        "person": person,
        "method": submission.method,
        "state": submission.state.value,
    }
    private = {entry.competition for entry in submission.entries if entry.is_private}
    for result in submission.evaluation.results:
        is_published = submission.published_at is not None and result.competition not in private
        for measure in result.measures:
            of_measure = {
                **common,
                "published": is_published,
                "competition": result.competition,
                "metric": measure.metric,
            }
            yield {**of_measure, "class": None, "score": measure.mean}
            for name, score in measure.per_class.items():
                yield {**of_measure, "class": name, "score": score}
