"""Rows that are prepared in a temporary file, and then copied into an SQLite database within a short transaction.

SQLite has one writer at a time. Reading thousands of submissions and building their rows takes seconds, copying the
rows a fraction of that.
"""

import contextlib
import sqlite3
from collections.abc import Container
from typing import Self

from sqlalchemy import StaticPool, create_engine, select, update
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import GroundTruthVersion, Scoring
from vocboard.app.database import OPERATOR, Base
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, ConfusionShares, Curve, Evaluation, Measure
from vocboard.app.submissions.models import Method, Submission, SubmissionEntry, SubmissionPerson
from vocboard.app.teams.models import Team, TeamMember

# In the order of their foreign keys, except `Submission.current_evaluation_id`.
TABLES = (
    User,
    GroundTruthVersion,
    Scoring,
    Team,
    TeamMember,
    Method,
    Submission,
    SubmissionPerson,
    SubmissionEntry,
    Evaluation,
    CompetitionResult,
    Measure,
    ClassScore,
    Curve,
    ConfusionShares,
    AuditEvent,
)
ROWS_AT_ONCE = 10_000
CACHE_KIB = 64 * 1024


class Staging(contextlib.AbstractContextManager["Staging"]):
    """A temporary database with some of the tables. SQLite removes its file, also if the process is killed.

    Attributes:
        session: to add rows with.
    """

    def __init__(self, *, operator: str | None) -> None:
        """Create the tables.

        Args:
            operator: as for `Database`.
        """
        self._file = sqlite3.connect("")
        self._file.execute("PRAGMA journal_mode = OFF")
        self._file.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        engine = create_engine("sqlite://", creator=lambda: self._file, poolclass=StaticPool)
        Base.metadata.create_all(engine, tables=[Base.metadata.tables[kind.__tablename__] for kind in TABLES])
        self.session = Session(engine, info={OPERATOR: operator})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()
        self._file.close()

    def copy_to(self, session: Session) -> None:
        """Add all rows, in the transaction of another session.

        Raises:
            IntegrityError: they conflict with existing rows.
        """
        self.session.flush()
        for kind in TABLES:
            # Evaluations and submissions refer to each other.
            self._copy(session, kind, without={"current_evaluation_id"})
        query = select(Submission.id, Submission.current_evaluation_id)
        rows = [
            {"id": one, "current_evaluation_id": evaluation}
            for one, evaluation in self.session.execute(query.where(Submission.current_evaluation_id.is_not(None)))
        ]
        if rows:
            session.execute(update(Submission), rows)

    def _copy(self, session: Session, kind: type[Base], *, without: Container[str]) -> None:
        table = kind.__tablename__
        columns = [column.name for column in kind.__table__.columns if column.name not in without]
        names = ", ".join(f'"{name}"' for name in columns)
        # Sorted, SQLite appends to the index of the primary key, which takes less time.
        key = ", ".join(f'"{column.name}"' for column in kind.__table__.primary_key)
        rows = self._file.execute(f'SELECT {names} FROM "{table}" ORDER BY {key}')  # noqa: S608  # names of models
        adding = f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(columns))})'  # noqa: S608
        while found := rows.fetchmany(ROWS_AT_ONCE):
            session.connection().exec_driver_sql(adding, found)
