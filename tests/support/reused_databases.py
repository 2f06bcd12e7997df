"""PostgreSQL databases that are emptied after a test and used again: making one takes a tenth of a second."""

from collections.abc import Iterator, Mapping

import psycopg
from psycopg import sql
from sqlalchemy.engine import URL

from tests.support.postgres import PostgresServer, conninfo

# Everything in a schema except rows: a test that changes it gets its own database.
SCHEMA = """
    SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
        SELECT format('%s %s %s', oid::regclass, relkind, relacl) AS line
            FROM pg_class WHERE relnamespace = 'public'::regnamespace
        UNION ALL SELECT format('%s %s %s %s %s', attrelid::regclass, attname, atttypid, attnotnull, attacl)
            FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = 'public'::regnamespace AND attnum > 0
        UNION ALL SELECT format('%s %s %s', tgrelid::regclass, tgname, tgenabled) FROM pg_trigger
        UNION ALL SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT format('%s %s %s', oid::regprocedure, prosrc, proacl)
            FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT format('%s %s', setrole, setconfig) FROM pg_db_role_setting
            WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
    ) AS lines
"""
TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname"
DISCONNECT_OTHERS = """
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
RESTART_SEQUENCES = """
    SELECT setval(pg_class.oid, seqstart, false) FROM pg_class JOIN pg_sequence ON seqrelid = pg_class.oid
"""


class ReusedDatabases:
    """Copies of one database, each given to one test at a time.

    Args of the constructor:
        template: name of the database that they are copies of.
    """

    def __init__(self, server: PostgresServer, template: str) -> None:
        self._server = server
        self._template = template
        self._free: list[URL] = []
        # A new connection would read the catalogue again, which takes most of the time.
        self._connections: dict[URL, psycopg.Connection] = {}
        self._schema = ""
        self._rows: Mapping[str, bytes] = {}

    def take(self) -> URL:
        """Return a database as the template is."""
        if self._free:
            return self._free.pop()
        url = self._server.create_database(template=self._template)
        connection = self._connections[url] = psycopg.connect(conninfo(url), autocommit=True)
        if not self._schema:
            self._schema = _schema(connection)
            self._rows = {table: _content(connection, table) for table in _tables_with_rows(connection)}
        return url

    def give_back(self, url: URL) -> None:
        """Restore a database's rows for the next test; drop it if that is not enough."""
        try:
            is_restored = self._restore(self._connections[url])
        except psycopg.Error:  # the role that a given server is used with may not do everything
            is_restored = False
        if is_restored:
            self._free.append(url)
        else:
            self._drop(url)

    def close(self) -> None:
        """Drop all."""
        while self._free:
            self._drop(self._free.pop())

    def _drop(self, url: URL) -> None:
        self._connections.pop(url).close()
        self._server.drop_database(url)

    def _restore(self, connection: psycopg.Connection) -> bool:
        connection.execute(DISCONNECT_OTHERS)
        if _schema(connection) != self._schema:
            return False
        connection.execute("SET session_replication_role = replica")  # no triggers, no foreign keys
        for table in _tables_with_rows(connection) | set(self._rows):
            if table in self._rows and _content(connection, table) == self._rows[table]:
                continue
            connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
            if table in self._rows:
                statement = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))
                with connection.cursor() as cursor, cursor.copy(statement) as copy:
                    copy.write(self._rows[table])
        connection.execute(RESTART_SEQUENCES)
        return True


def _schema(connection: psycopg.Connection) -> str:
    row = connection.execute(SCHEMA).fetchone()
    assert row is not None
    return str(row[0])


def _tables_with_rows(connection: psycopg.Connection) -> set[str]:
    tables = [str(name) for (name,) in connection.execute(TABLES)]
    has_rows = (
        sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(sql.Literal(name), sql.Identifier(name))
        for name in tables
    )
    return {str(name) for (name,) in connection.execute(sql.SQL(" UNION ALL ").join(has_rows))}


def _content(connection: psycopg.Connection, table: str) -> bytes:
    def pieces() -> Iterator[bytes]:
        statement = sql.SQL("COPY {} TO STDOUT").format(sql.Identifier(table))
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            yield from map(bytes, copy)

    return b"".join(pieces())
