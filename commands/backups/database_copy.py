"""A copy of the database as one stream: of SQLite the file, of PostgreSQL the rows of all tables.

The first line is JSON (`Header`). Then follows the SQLite file; or for each table of PostgreSQL a line `COPY ... FROM
STDIN;`, its rows in PostgreSQL's text format, and a line `\\.`, which `psql` reads, too. pg_dump is not used: it must
be as new as the server, and the images do not have it. The tables are made by the migrations up to the copy's revision,
and migrated from there, so that a newer version of vocboard restores older copies.
"""

import io
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from alembic.migration import MigrationContext
from psycopg import Cursor, sql
from sqlalchemy import Connection, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session

from vocboard.app.database import Database
from vocboard.evaluator.version import VERSION
from vocboard.migrations import upgrade

FORMAT = 1
_REVISIONS = "alembic_version"
_END = b"\\.\n"
_SETTINGS = "SET LOCAL datestyle = 'ISO'; SET LOCAL bytea_output = 'hex'; SET LOCAL client_encoding = 'UTF8'"


class CopyError(Exception):
    """The copy cannot be loaded here; the message says why."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a copy is of.

    Attributes:
        dialect: `sqlite` or `postgresql`.
        revision: of the migrations.
        version: of vocboard, for people.
    """

    dialect: str
    revision: str
    version: str = VERSION
    format: int = FORMAT


def write(session: Session, target: io.BufferedIOBase) -> None:
    """Write the database as the session sees it.

    Args:
        session: of `Database.snapshot`.
    """
    connection = session.connection()
    header = Header(connection.dialect.name, str(MigrationContext.configure(connection).get_current_revision()))
    target.write(json.dumps(asdict(header)).encode() + b"\n")
    if header.dialect == "sqlite":
        _write_sqlite(connection, target)
    else:
        _write_postgresql(connection, target)


def load(database: Database, url: str, source: io.BufferedIOBase) -> Header:
    """Make the tables and rows of a copy in an empty database, and migrate it to the newest revision.

    Args:
        database: closed by this, since SQLite's file is replaced.
        url: of the database.
        source: buffered.

    Raises:
        CopyError: the database is not empty, or the copy is not for it.
    """
    try:
        header = Header(**json.loads(source.readline()))
    except (ValueError, TypeError) as error:
        raise CopyError("This is not a copy of a database that this version can read.") from error
    if header.format != FORMAT:
        raise CopyError(f"The backup is from vocboard {header.version}, whose format this version cannot read.")
    if header.dialect != database.engine.dialect.name:
        raise CopyError(f"The backup is of a {header.dialect} database, and can only be restored into one.")
    file = Path(make_url(url).database or "") if database.is_sqlite else None
    if file is None or file.exists():
        _require_empty(database, header)
        database.close()
    if file is not None:
        _load_sqlite(file, source)
    else:
        upgrade(url, header.revision)
        with database.engine.begin() as connection:
            _load_postgresql(connection, source)
    upgrade(url)
    return header


def _require_empty(database: Database, header: Header) -> None:
    with database.engine.connect() as connection:
        tables = set(inspect(connection).get_table_names())
        if any(connection.scalar(text(f"SELECT count(*) FROM {name}")) for name in tables & {"users", "challenges"}):  # noqa: S608
            raise CopyError("The database is not empty. Restore into a new one, so that nothing is overwritten.")
        revision = MigrationContext.configure(connection).get_current_revision()
        if revision not in {None, header.revision} and not database.is_sqlite:
            raise CopyError(
                f"The database has tables of revision {revision}, and the backup is of revision {header.revision}. "
                "Restore into a database without tables; `restore` makes them."
            )


def _write_sqlite(connection: Connection, target: io.BufferedIOBase) -> None:
    file = Path(connection.engine.url.database or "")
    source: Any = connection.connection.driver_connection
    with tempfile.TemporaryDirectory(dir=file.parent) as directory:
        copy = Path(directory) / "copy"
        with closing(sqlite3.connect(copy)) as other:
            source.backup(other)  # within the session's transaction: other connections' changes are not in it
        with copy.open("rb") as opened:
            shutil.copyfileobj(opened, target)


def _load_sqlite(file: Path, source: io.BufferedIOBase) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as directory:
        copy = Path(directory) / "copy"
        with copy.open("wb") as opened:
            shutil.copyfileobj(source, opened)
        for suffix in ("", "-wal", "-shm"):  # of the empty database
            file.with_name(file.name + suffix).unlink(missing_ok=True)
        copy.replace(file)


def _write_postgresql(connection: Connection, target: io.BufferedIOBase) -> None:
    inspector = inspect(connection)
    with _cursor(connection) as cursor:
        for table in sorted(set(inspector.get_table_names()) - {_REVISIONS}):
            columns = [column["name"] for column in inspector.get_columns(table)]
            place = sql.SQL("{} ({})").format(sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns)))
            target.write(f"COPY {place.as_string()} FROM STDIN;\n".encode())
            with cursor.copy(sql.SQL("COPY {} TO STDOUT").format(place)) as rows:
                for block in rows:
                    target.write(block)
            target.write(_END)


def _load_postgresql(connection: Connection, source: io.BufferedIOBase) -> None:
    """Load all rows in one transaction; foreign keys, some of which form circles, are checked at its end."""
    with _cursor(connection) as cursor:
        tables = [sql.Identifier(name) for name in inspect(connection).get_table_names() if name != _REVISIONS]
        keys = cursor.execute(
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"
        ).fetchall()
        for table, name, _ in keys:
            cursor.execute(_altered(table, "DROP CONSTRAINT {}", sql.Identifier(name)))
        for table_name in tables:
            cursor.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(table_name))
        cursor.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(tables)))
        while statement := source.readline():
            if not (statement.startswith(b"COPY ") and statement.endswith(b" FROM STDIN;\n")):
                raise CopyError("The copy of the database is damaged.")
            with cursor.copy(statement.removesuffix(b";\n")) as rows:
                for block in _rows(source):
                    rows.write(block)
        for table_name in tables:
            cursor.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(table_name))
        for table, name, definition in keys:
            cursor.execute(_altered(table, f"ADD CONSTRAINT {{}} {definition}", sql.Identifier(name)))


def _rows(source: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield rows up to the end of a table, many at a time."""
    block = io.BytesIO()
    while (line := source.readline()) != _END:
        if not line:
            raise CopyError("The copy of the database ends too early.")
        block.write(line)
        if block.tell() > io.DEFAULT_BUFFER_SIZE * 16:
            yield block.getvalue()
            block = io.BytesIO()
    yield block.getvalue()


def _altered(table: str, change: str, name: sql.Identifier) -> sql.Composed:
    return sql.SQL("ALTER TABLE {} " + change).format(sql.SQL(table), name)  # from the catalogue


def _cursor(connection: Connection) -> Cursor[Any]:
    driver: Any = connection.connection.driver_connection
    cursor: Cursor[Any] = driver.cursor()
    cursor.execute(_SETTINGS)
    return cursor
