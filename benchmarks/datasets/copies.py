"""Copies of a synthetic challenge, made by PostgreSQL itself: a million submissions in minutes."""

from collections.abc import Collection, Mapping

from sqlalchemy import DateTime, Table, Uuid, text
from sqlalchemy.engine import Connection

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Base, Database, UTCDateTime
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, Evaluation, Measure
from vocboard.app.jobs.models import Job
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.notifications.models import Notification
from vocboard.app.submissions.models import Submission, SubmissionEntry, SubmissionPerson

OF_SUBMISSIONS = (Submission, SubmissionPerson, SubmissionEntry, Evaluation, CompetitionResult, Measure, ClassScore)

OF_PEOPLE = {model.__tablename__ for model in (User, Notification, OutgoingMail, Job)}  # there are no more of them


def multiply(database: Database, *, challenges: int, times: int) -> None:
    """Copy the only challenge, with all that is its own but its people, until there are so many challenges.

    Args:
        times: how often the submissions of the first challenge are there afterwards.
    """
    everything = [table for table in Base.metadata.sorted_tables if table.name not in OF_PEOPLE]
    of_submissions = [table for table in everything if table.name in {model.__tablename__ for model in OF_SUBMISSIONS}]
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # No foreign key is checked 50 million times, and the largest index is made at once.
        connection.execute(text("SET session_replication_role = replica"))
        connection.execute(text("SET synchronous_commit = off"))
        connection.execute(text("SET maintenance_work_mem = '1GB'"))
        connection.execute(text("ALTER TABLE class_scores DROP CONSTRAINT pk_class_scores"))
        originals = {
            table.name: f"original_{table.name}"
            for table in everything
            if connection.scalar(text(f"SELECT EXISTS (SELECT FROM {table.name})"))
        }
        for name, original in originals.items():
            connection.execute(text(f"CREATE TEMP TABLE {original} AS TABLE {name}"))
        for number in range(1, challenges):
            _copy(connection, everything, originals, number)
        for number in range(challenges, challenges + times - 1):
            _copy(connection, of_submissions, originals, number)
        connection.execute(
            text("ALTER TABLE class_scores ADD CONSTRAINT pk_class_scores PRIMARY KEY (measure_id, class_name)")
        )


def _copy(connection: Connection, tables: Collection[Table], originals: Mapping[str, str], number: int) -> None:
    names = {table.name for table in tables}
    for table in tables:
        if table.name in originals:
            columns = ", ".join(f'"{column.name}"' for column in table.columns)
            values = ", ".join(_value(table, column.name, names, number) for column in table.columns)
            connection.execute(
                text(f"INSERT INTO {table.name} ({columns}) SELECT {values} FROM {originals[table.name]}")
            )


def _value(table: Table, name: str, copied: Collection[str], number: int) -> str:
    """The expression of a column in a copy: ids are other ones where they are those of what is copied."""
    column = table.columns[name]
    if isinstance(column.type, Uuid) and all(key.column.table.name in copied for key in column.foreign_keys):
        return f"""md5("{name}"::text || '{number}')::uuid"""
    if isinstance(column.type, UTCDateTime | DateTime):
        return f""""{name}" + {number} * interval '31 seconds'"""
    if table.name == Challenge.__tablename__ and name == "slug":
        return f"""slug || '-{number}'"""
    if name == "archive_sha256":
        return f"md5({name}) || md5({name} || '{number}')"
    return f'"{name}"'
