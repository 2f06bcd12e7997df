"""The database that the PostgreSQL container makes, and what its roles may do there once `migrate` has run."""

import os
import shutil
import subprocess
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import URL

import migrations
from tests.support.compose import ROOT
from tests.support.postgres import PostgresServer, conninfo, find_binaries, postgres_server
from tests.support.processes import UnavailableError, skip_or_fail
from tests.support.services import in_full, needed

pytestmark = pytest.mark.services
PASSWORDS = {
    "VOCBOARD_OWNER_PASSWORD": "owner's",
    "VOCBOARD_WEB_PASSWORD": 'web "application\'s"',
    "VOCBOARD_WORKER_PASSWORD": "worker's; --",
}
ROLES = ("vocboard_owner", "vocboard_web", "vocboard_worker")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Give a server of the module's own: roles belong to a whole server."""
    with needed(postgres_server()) as server:
        yield server


@pytest.fixture(scope="module")
def database(server: PostgresServer) -> Iterator[URL]:
    """Give the database that roles.sql makes, with its tables."""
    url = server.admin_url.set(database="vocboard")
    remove(server, url)
    run_roles_script(server)
    migrations.upgrade(in_full(url.set(username="vocboard_owner", password=PASSWORDS["VOCBOARD_OWNER_PASSWORD"])))
    yield url
    remove(server, url)


def remove(server: PostgresServer, url: URL) -> None:
    server.drop_database(url)
    for role in ROLES:
        server.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))


def run_roles_script(server: PostgresServer) -> None:
    """Run the script as the container's entry point does."""
    try:
        beside = find_binaries() / "psql"
    except UnavailableError:
        beside = None
    program = str(beside) if beside and beside.exists() else shutil.which("psql")
    if program is None:
        skip_or_fail("no psql: install a PostgreSQL client")
    script = ROOT / "deploy" / "postgres" / "roles.sql"
    arguments = ["--no-psqlrc", "-v", "ON_ERROR_STOP=1", "-f", str(script), conninfo(server.admin_url)]
    done = subprocess.run(
        [program, *arguments],
        env={**os.environ, **PASSWORDS},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


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
