"""The database that the PostgreSQL container makes, and what its roles may do there once `migrate` has run."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import URL

import migrations
from tests.support.installation import ROLES, roles
from tests.support.postgres import PostgresServer, conninfo, postgres_server
from tests.support.services import in_full, needed

pytestmark = pytest.mark.services
PASSWORDS = {
    "VOCBOARD_OWNER_PASSWORD": "owner's",
    "VOCBOARD_WEB_PASSWORD": 'web "application\'s"',
    "VOCBOARD_WORKER_PASSWORD": "worker's; --",
    "VOCBOARD_MAIL_PASSWORD": "mail's",
}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Give a server of the module's own: roles belong to a whole server."""
    with needed(postgres_server()) as server:
        yield server


@pytest.fixture(scope="module")
def database(server: PostgresServer) -> Iterator[URL]:
    """Give the database that the script makes, with its tables."""
    with needed(roles(server, PASSWORDS)) as url:
        owner = url.set(username="vocboard_owner", password=PASSWORDS["VOCBOARD_OWNER_PASSWORD"])
        migrations.upgrade(in_full(owner))
        yield url


def connect(database: URL, role: str) -> psycopg.Connection:
    password = PASSWORDS[f"{role.upper()}_PASSWORD"]
    return psycopg.connect(conninfo(database.set(username=role, password=password)))


@pytest.mark.parametrize("table", ["evaluations", "class_scores", "curves", "scorings"])
@pytest.mark.parametrize("statement", ["INSERT INTO {} DEFAULT VALUES", "DELETE FROM {}"])
def test_web_reads_scores_and_writes_none(database: URL, table: str, statement: str) -> None:
    with connect(database, "vocboard_web") as connection:
        connection.execute(sql.SQL("SELECT FROM {}").format(sql.Identifier(table)))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(sql.SQL(statement).format(sql.Identifier(table)))


@pytest.mark.parametrize("table", ["users", "sessions", "api_tokens"])
def test_worker_knows_no_people(database: URL, table: str) -> None:
    with connect(database, "vocboard_worker") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(sql.SQL("SELECT FROM {}").format(sql.Identifier(table)))


@pytest.mark.parametrize("role", ["vocboard_web", "vocboard_worker"])
def test_neither_changes_tables_or_what_was_audited(database: URL, role: str) -> None:
    for statement in ("CREATE TABLE mine (id int)", "DROP TABLE submissions", "DELETE FROM audit_events"):
        with connect(database, role) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


def test_no_other_role_gets_in(server: PostgresServer, database: URL) -> None:
    server.execute(sql.SQL("DROP ROLE IF EXISTS stranger").format())
    server.execute(sql.SQL("CREATE ROLE stranger LOGIN PASSWORD 'strange'").format())
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        psycopg.connect(conninfo(database.set(username="stranger", password="strange")))
    server.execute(sql.SQL("DROP ROLE stranger").format())


def test_roles_have_no_rights_over_the_server(database: URL) -> None:
    with psycopg.connect(conninfo(database)) as connection:
        powers = connection.execute(
            "SELECT bool_or(rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)"
            " FROM pg_roles WHERE rolname = ANY(%s)",
            [list(ROLES)],
        ).fetchone()
    assert powers == (False,)
