"""Migrations lead from nothing to exactly the tables of the models, on both databases."""

import os
import re
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.autogenerate.api import AutogenContext
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, Connection, inspect, text
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.exc import ProgrammingError

from tests.support import forked
from tests.support.backend import wait_until
from tests.support.databases import made_roles
from tests.support.postgres import PostgresServer
from tests.support.services import in_full
from vocboard.app.database import Database
from vocboard.app.models import Base
from vocboard.commands.main import main
from vocboard.migrations import drafts, privileges, require_newest, upgrade
from vocboard.migrations.run import config

# Every later migration only adds (CONTRIBUTING.md).
LAST_THAT_CONTRACTS = "2026_11_28_0526_admission"
REVISIONS = [each.revision for each in ScriptDirectory.from_config(config("sqlite://")).walk_revisions()][::-1]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.services)])
def empty_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"empty_{request.param}_url"))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.services)])
def migrated_url(request: pytest.FixtureRequest) -> str:
    """Give a database as an upgrade from nothing has left it."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    database = Database(url)
    try:
        with database.engine.connect() as connection:
            yield connection
    finally:
        database.close()


def test_migrations_make_exactly_the_tables_of_the_models(migrated_url: str) -> None:
    with connected(migrated_url) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []


def test_migrations_make_the_check_constraints_of_the_models(migrated_url: str) -> None:
    """Alembic's comparison leaves these out."""
    with connected(migrated_url) as connection:
        found = inspect(connection)
        for name, table in Base.metadata.tables.items():
            checks = [item for item in table.constraints if isinstance(item, CheckConstraint)]
            assert {check["name"] for check in found.get_check_constraints(name)} == {item.name for item in checks}


def test_processes_of_the_version_before_go_on_with_the_new_schema(empty_url: str) -> None:
    """They find what they read, and what they do not know of is nullable or has a default."""
    command.upgrade(config(empty_url), LAST_THAT_CONTRACTS)
    with connected(empty_url) as connection:
        before, unique = columns(connection), unique_constraints(connection)
    tables = {table for table, _ in before}
    upgrade(empty_url)
    with connected(empty_url) as connection:
        after = columns(connection)
        assert unique_constraints(connection, tables) <= unique
    assert before.keys() <= after.keys()
    for (table, name), column in after.items():
        if (table, name) in before:
            assert column["nullable"] >= before[table, name]["nullable"], (table, name)
        elif table in tables:
            assert column["nullable"] or column["default"] is not None, (table, name)


def columns(connection: Connection) -> dict[tuple[str, str], ReflectedColumn]:
    found = inspect(connection)
    return {(table, column["name"]): column for table in found.get_table_names() for column in found.get_columns(table)}


def unique_constraints(connection: Connection, tables: Collection[str] | None = None) -> set[tuple[str, str | None]]:
    found = inspect(connection)
    names = found.get_table_names() if tables is None else tables
    return {(table, one["name"]) for table in names for one in found.get_unique_constraints(table)}


def test_upgrading_again_changes_nothing(migrated_url: str) -> None:
    with connected(migrated_url) as connection:
        before = MigrationContext.configure(connection).get_current_heads()
    upgrade(migrated_url)
    with connected(migrated_url) as connection:
        assert MigrationContext.configure(connection).get_current_heads() == before


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        ("from_the_future", r"migrated by another version, to revision from_the_future; .* restore the backup"),
        ("2999_01_01_0000_later", "migrated by another version, to revision 2999_01_01_0000_later"),
        (
            "2026_11_24_1630_overall_rank",
            "at revision 2026_11_24_1630_overall_rank, which this version cannot upgrade. Run `vocboard migrate` of "
            f"commit 3e73089f first, which upgrades it to revision {REVISIONS[0]}, then that of this version.",
        ),
    ],
)
def test_a_database_of_another_version_is_left_alone_with_a_clear_message(
    migrated_url: str, revision: str, message: str
) -> None:
    require_newest(migrated_url)
    with closing(Database(migrated_url)) as database, database.writing() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    for refused in (upgrade, require_newest):
        with pytest.raises(SystemExit, match=message):
            refused(migrated_url)


def test_processes_that_upgrade_at_once_wait_for_each_other(empty_url: str, tmp_path: Path) -> None:
    environment = {**os.environ, "VOCBOARD_DATABASE_URL": empty_url, "VOCBOARD_DATA_DIRECTORY": str(tmp_path)}
    with (tmp_path / "log").open("wb") as log:
        running = [forked.start(["migrate"], environment=environment, output=log) for _ in range(2)]
    assert [process.wait(timeout=60) for process in running] == [0, 0], (tmp_path / "log").read_text()


@pytest.mark.services
def test_the_upgrade_gives_way_to_a_process_that_uses_the_database(empty_postgres_url: str) -> None:
    command.upgrade(config(empty_postgres_url), REVISIONS[-2])
    with closing(Database(empty_postgres_url)) as database, database.engine.connect() as connection:
        first, *_, last = inspect(connection).get_table_names()
        connection.execute(text(f"LOCK TABLE {last} IN ACCESS SHARE MODE"))
        with ThreadPoolExecutor() as pool:
            upgraded = pool.submit(upgrade, empty_postgres_url)
            waiting = text("SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted")
            wait_until(lambda: connection.scalar(waiting) == 1)
            # Both wait for each other. PostgreSQL would end this one, which looks for deadlocks first.
            connection.execute(text("SET deadlock_timeout = '500ms'"))
            connection.execute(text(f"LOCK TABLE {first} IN ACCESS SHARE MODE"))
            connection.rollback()
            upgraded.result()
    require_newest(empty_postgres_url)


def test_history_is_one_line() -> None:
    assert len(ScriptDirectory.from_config(config("sqlite://")).get_heads()) == 1


def test_files_of_migrations_begin_with_date_and_time() -> None:
    files = [Path(script.path).name for script in ScriptDirectory.from_config(config("sqlite://")).walk_revisions()]
    assert files
    assert [file for file in files if not re.fullmatch(r"\d{4}_\d{2}_\d{2}_\d{4}_\w+\.py", file)] == []


def test_an_sqlite_directory_is_made(tmp_path: Path) -> None:
    upgrade(f"sqlite:///{tmp_path / 'new' / 'vocboard.sqlite3'}")
    assert (tmp_path / "new" / "vocboard.sqlite3").exists()


@pytest.mark.services
@pytest.mark.parametrize("process", [["serve", "--port", "0"], ["worker"], ["worker", "--only", "mail"]])
def test_a_process_refuses_to_start_on_a_database_that_is_not_migrated(
    empty_postgres_url: str, process: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOCBOARD_ENVIRONMENT", "production")
    monkeypatch.setenv("VOCBOARD_PUBLIC_URL", "https://voc.example.org")
    monkeypatch.setenv("VOCBOARD_BROKER_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", empty_postgres_url)
    for name in ("SECRET_KEY", "PROXY_SECRET"):
        monkeypatch.setenv(f"VOCBOARD_{name}", "0123456789abcdef" * 2)
    for revision in (None, *REVISIONS[-2:-1]):
        if revision:
            command.upgrade(config(empty_postgres_url), revision)
        with pytest.raises(SystemExit, match=f"is at revision {revision or 'none'}, .* Run `vocboard migrate`"):
            main(process)


def test_every_table_has_privileges_for_the_web_role_or_is_meant_to_have_none() -> None:
    assert set(privileges.WEB) == {*Base.metadata.tables, "alembic_version"}
    assert set(privileges.WORKER) | set(privileges.MAIL) <= set(privileges.WEB)


@pytest.fixture(scope="module")
def privileged_url(postgres: PostgresServer, postgres_template: str) -> Iterator[str]:
    """Give a database whose processes have their roles, for tests that commit nothing."""
    with made_roles(postgres):
        url = postgres.create_database(template=postgres_template)
        upgrade(in_full(url))  # for the roles' privileges
        yield in_full(url)
        postgres.drop_database(url)


@pytest.mark.services
@pytest.mark.parametrize(
    ("role", "statement"),
    [
        (privileges.WEB_ROLE, "INSERT INTO evaluations (id) VALUES (gen_random_uuid())"),
        (privileges.WEB_ROLE, "UPDATE class_scores SET value = 1"),
        (privileges.WEB_ROLE, "DELETE FROM scorings"),
        (privileges.WEB_ROLE, "UPDATE ground_truth_versions SET state = 'ready'"),
        (privileges.WEB_ROLE, "DELETE FROM audit_events"),
        (privileges.WEB_ROLE, "SELECT body FROM outbox"),
        (privileges.WEB_ROLE, "SELECT points FROM secret_curves"),
        (privileges.WEB_ROLE, "SELECT counts FROM secret_confusion_matrices"),
        (privileges.WEB_ROLE, "SELECT content FROM secret_diagnoses"),
        (privileges.WEB_ROLE, "INSERT INTO public_diagnoses SELECT * FROM public_diagnoses"),
        (privileges.WEB_ROLE, "INSERT INTO diagnosis_shares SELECT * FROM diagnosis_shares"),
        (privileges.WEB_ROLE, "INSERT INTO public_curves SELECT * FROM public_curves"),
        (privileges.WORKER_ROLE, "SELECT email FROM users"),
        (privileges.WORKER_ROLE, "SELECT body FROM outbox"),
        (privileges.WORKER_ROLE, "SELECT title FROM notifications"),
        (privileges.MAIL_ROLE, "SELECT name FROM users"),
        (privileges.MAIL_ROLE, "SELECT token_hash FROM email_links"),
        (privileges.MAIL_ROLE, "SELECT slug FROM challenges"),
        (privileges.MAIL_ROLE, "SELECT id FROM submissions"),
        (privileges.MAIL_ROLE, "UPDATE outbox SET recipient = 'eve@evil.example'"),
        (privileges.MAIL_ROLE, "INSERT INTO notifications (id) VALUES (gen_random_uuid())"),
        (privileges.WORKER_ROLE, "SELECT answer FROM questions"),
        (privileges.MAIL_ROLE, "SELECT answer FROM questions"),
        (privileges.WEB_ROLE, "UPDATE challenge_files SET audience = 'public'"),
        (privileges.WORKER_ROLE, "SELECT sha256 FROM challenge_files"),
        (privileges.WORKER_ROLE, "SELECT token_hash FROM sessions"),
        (privileges.WORKER_ROLE, "UPDATE evaluations SET seconds = 0"),
        (privileges.WORKER_ROLE, "UPDATE challenges SET visibility = 'public'"),
    ],
)
def test_the_database_refuses(privileged_url: str, role: str, statement: str) -> None:
    with connected(privileged_url) as connection:
        connection.execute(text(f"SET ROLE {role}"))
        connection.execute(text("SELECT count(*) FROM alembic_version"))
        with pytest.raises(ProgrammingError, match=r"permission denied|may not add such"):
            connection.execute(text(statement))


def test_generated_migrations_can_run_without_the_models() -> None:
    """A type that Alembic writes as it is called in the models would be an undefined name in a migration."""
    context = AutogenContext(MigrationContext.configure(dialect_name="sqlite"))
    types = {column.type.__class__: column.type for table in Base.metadata.tables.values() for column in table.columns}
    for item in types.values():
        written = drafts.type_in_migration("type", item, context)
        assert written is not False or item.__module__.startswith("sqlalchemy."), item
        if written is not False:
            assert isinstance(eval(written, {"sa": sqlalchemy}), sqlalchemy.types.TypeEngine)  # ours
