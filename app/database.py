"""The database: engine, transactions, and the base class of all models."""

import copy
import hashlib
import sqlite3
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Self

from sqlalchemy import (
    ColumnElement,
    Connection,
    DateTime,
    Dialect,
    Engine,
    Enum,
    MetaData,
    Uuid,
    create_engine,
    event,
    func,
    literal,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.orm import DeclarativeBase, Session, mapped_column
from sqlalchemy.types import TypeDecorator

from vocboard.app import tracing

SQLITE_BUSY_TIMEOUT_SECONDS = 30
SQLITE_RETRY_SECONDS = 0.02
CONFLICTS = frozenset({"40001", "40P01"})  # SQLSTATE: serialization_failure, deadlock_detected
_PAUSED_TOO_LONG = "25P03"  # SQLSTATE: idle_in_transaction_session_timeout
OPERATOR, ADDED = "operator", "added"  # keys of `Session.info`: who acts, and kinds of jobs that were added
# Detect a PostgreSQL server that stopped responding after about a minute, not after the system's two hours.
POSTGRESQL_CONNECTION = {
    "connect_timeout": 10,  # seconds, like the next two
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,  # ms
}
# And let the server detect a machine that has disappeared, or its transaction would keep its locks for two hours.
_NOTICE_LOST_CLIENTS = """
    SET tcp_keepalives_idle = 30;
    SET tcp_keepalives_interval = 10;
    SET tcp_keepalives_count = 3;
    SET tcp_user_timeout = 30000;
"""
MAX_PAUSE_WITH_LOCK = timedelta(seconds=60)  # then the server ends the transaction: its process may have been stopped


class UTCDateTime(TypeDecorator[datetime]):
    """A time: always with a time zone in Python, always UTC in the database (SQLite stores no zone)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Reject a time without a time zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        """Restore the time zone, which SQLite does not store."""
        if value is None:
            return None
        instant: datetime = value
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def text_enum(choices: type[StrEnum]) -> Enum:
    """Return the column type of an enumeration: text values in the database, members in Python."""
    return Enum(choices, native_enum=False, length=20, values_callable=lambda members: [item.value for item in members])


class Base(DeclarativeBase):
    """Base class of all models. Constraints are named, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UTCDateTime, uuid.UUID: Uuid}  # noqa: RUF012  # declared this way by SQLAlchemy


def now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


def server_time(session: Session) -> datetime:
    """Return the time by the clock of the database server, which all machines share; this machine's with SQLite.

    For leases and whatever else one machine writes and another compares with the time: their clocks may differ.
    """
    if session.get_bind().dialect.name != "postgresql":
        return now()
    instant: datetime = session.scalars(select(func.clock_timestamp())).one()
    return instant


def server_clock(session: Session, after: timedelta = timedelta()) -> ColumnElement[datetime]:
    """Return SQL for the time when its statement reaches the database server (SQLite: of this call), plus `after`.

    Unlike `server_time`, it takes no statement of its own. One that waits for a lock writes the time before that.
    """
    if session.get_bind().dialect.name != "postgresql":
        return literal(now() + after, UTCDateTime())
    clock = func.statement_timestamp(type_=DateTime(timezone=True))
    return clock + after if after else clock


def insert_into(session: Session, model: type[Base]) -> Any:
    """Return an INSERT, which in the dialect of the database can say what to do if the row is there already."""
    return (sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert)(model)


def add_unique(session: Session, row: Base) -> bool:
    """Add a row to the database; return False, and add nothing, if there is one with the same unique values already."""
    session.flush()  # so that an error in another row is not reported as one of this
    try:
        with session.begin_nested():
            session.add(row)
            session.flush()
    except IntegrityError:
        return False
    return True


Identifier = Annotated[uuid.UUID, mapped_column(primary_key=True, default=uuid.uuid4)]  # 122 random bits: opaque
CreatedAt = Annotated[datetime, mapped_column(default=now)]


class OutcomeError(Exception):
    """An error that does not roll back the transaction: what was written before it was raised is committed.

    For example, a failed sign-in must be counted although it returns an error.
    """


def lock_for_transaction(session: Session, *names: str, max_pause: timedelta | None = None) -> None:
    """Lock these names until the end of the transaction (not needed on SQLite, which has a single writer).

    The transaction is ended if it has nothing to do for a while, so that others do not wait for ever.

    Args:
        max_pause: for how long; by default `MAX_PAUSE_WITH_LOCK`.
    """
    if session.get_bind().dialect.name != "postgresql":
        return
    # Always in this order, to avoid deadlocks: PostgreSQL evaluates columns from left to right.
    digests = (hashlib.sha256(name.encode()).digest() for name in sorted(names))
    locks = [func.pg_advisory_xact_lock(int.from_bytes(digest[:8], "big", signed=True)) for digest in digests]
    milliseconds = str(int((max_pause or MAX_PAUSE_WITH_LOCK) / timedelta(milliseconds=1)))
    session.execute(select(*locks, func.set_config("idle_in_transaction_session_timeout", milliseconds, True)))


def is_conflict(error: BaseException) -> bool:
    """Whether PostgreSQL ended a transaction because of concurrent ones, and the same could succeed now."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in CONFLICTS


def is_writing(session: Session) -> bool:
    """Whether this is a session of `Database.writing()`."""
    return bool(session.get_bind().get_execution_options().get("writing", False))


class Database:
    """A database engine and its transactions.

    Sessions are only created by `reading()`, `reading_autocommit()`, `snapshot()` and `writing()`; only those of
    `writing()` are for changes. In `reading()` and `snapshot()`, PostgreSQL refuses changes, and SQLite rolls them
    back. On SQLite, a writing transaction takes the write lock at once (`BEGIN IMMEDIATE`), so what it has read cannot
    change; on PostgreSQL, services lock the rows that their decisions depend on.
    """

    def __init__(
        self, url: str, *, operator: str | None = None, wake: Callable[[Collection[Any]], None] | None = None
    ) -> None:
        """Open a database.

        Args:
            operator: name of the operator at the command line, for the audit log; None for the server's own processes.
            wake: notifies workers of kinds of jobs that a transaction has added, after its commit.
        """
        self._info, self._wake = {OPERATOR: operator}, wake
        options: dict[str, Any] = {"pool_pre_ping": True, "connect_args": POSTGRESQL_CONNECTION}
        if url.startswith("sqlite"):
            options = {"connect_args": {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "isolation_level": None}}
        self.engine: Engine = create_engine(url, hide_parameters=True, **options)  # errors are logged
        self._writing_engine = self.engine.execution_options(writing=True)
        # On SQLite, every reading transaction is a snapshot, and beginning one costs no round trip.
        self._reading_engine: Engine | Connection = self.engine
        self._autocommit_engine: Engine | Connection = self.engine
        self._snapshot_engine: Engine | Connection = self.engine
        if not self.is_sqlite:
            self._reading_engine = self.engine.execution_options(postgresql_readonly=True)
            self._autocommit_engine = self.engine.execution_options(isolation_level="AUTOCOMMIT")
            self._snapshot_engine = self._reading_engine.execution_options(isolation_level="REPEATABLE READ")
            # psycopg executes each row of executemany by itself; SQLAlchemy makes one statement of up to 1,000 rows
            # (not with ON CONFLICT).
            self.engine.dialect.use_insertmanyvalues_wo_returning = True
        tracing.follow(self.engine)
        event.listen(self.engine, "connect", _prepare_sqlite if self.is_sqlite else _prepare_postgresql)
        if self.is_sqlite:
            event.listen(self.engine, "begin", _begin_sqlite)
        else:
            event.listen(self.engine, "handle_error", _lost_connection, retval=True)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is the embedded set-up."""
        return self.engine.dialect.name == "sqlite"

    @property
    def operator(self) -> str | None:
        """Name of the operator at the command line, if one opened it."""
        return self._info[OPERATOR]

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Read in a transaction."""
        with self._read_only(self._reading_engine) as session:
            yield session

    @contextmanager
    def reading_autocommit(self) -> Iterator[Session]:
        """Read without a transaction, which saves two round trips; each statement sees the latest committed data."""
        with Session(self._autocommit_engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """Read in a transaction in which all statements see the same state of the database."""
        with self._read_only(self._snapshot_engine) as session:
            yield session

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[Session]:
        """Write in a transaction: committed at the end, rolled back on exceptions other than `OutcomeError`.

        Args:
            durable: whether PostgreSQL brings the transaction to the disk before it returns. False is for leases and
                counters of what a power failure ends anyway. A durable transaction brings all earlier ones with it. On
                SQLite, a power failure can lose the last transactions either way (`synchronous = NORMAL`).
        """
        with (
            Session(self._writing_engine, expire_on_commit=False, info=self._info) as session,
            session.begin() as transaction,
        ):
            if not durable and not self.is_sqlite:
                session.connection().exec_driver_sql("SET LOCAL synchronous_commit TO off")
            try:
                yield session
            except OutcomeError:
                transaction.commit()
                self._notify(session)
                raise
        self._notify(session)

    def _notify(self, session: Session) -> None:
        if self._wake is not None and (added := session.info.get(ADDED)):
            self._wake(added)

    def within(self, session: Session) -> Self:
        """Return this database as a transaction sees it: what reads from it does so in the transaction."""
        seen = copy.copy(self)
        seen._reading_engine = seen._autocommit_engine = seen._snapshot_engine = session.connection()
        return seen

    @contextmanager
    def _read_only(self, engine: Engine | Connection) -> Iterator[Session]:
        with Session(engine, expire_on_commit=False) as session:
            yield session
            # psycopg throws away the statements that it has prepared whenever a transaction is rolled back.
            if not self.is_sqlite:
                session.commit()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _prepare_postgresql(connection: Any, _record: Any) -> None:
    autocommit, connection.autocommit = connection.autocommit, True
    connection.execute(_NOTICE_LOST_CLIENTS)
    connection.autocommit = autocommit


def _lost_connection(context: ExceptionContext) -> OperationalError | None:
    """Report a transaction that the server has ended for `MAX_PAUSE_WITH_LOCK` as the lost connection that it is."""
    if getattr(context.original_exception, "sqlstate", None) != _PAUSED_TOO_LONG:
        return None
    context.is_disconnect = True
    return OperationalError(context.statement, context.parameters, context.original_exception, hide_parameters=True)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    _keep_a_write_ahead_log(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _keep_a_write_ahead_log(connection: Any) -> None:
    """Switch the database file to write-ahead logging; retry, since SQLite does not wait for concurrent switches."""
    deadline = time.monotonic() + SQLITE_BUSY_TIMEOUT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(SQLITE_RETRY_SECONDS)
        else:
            return


def _begin_sqlite(connection: Any) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
