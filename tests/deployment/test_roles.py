"""The database that the PostgreSQL container makes, and what its roles may do there once `migrate` has run."""

import contextlib
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import select, update
from sqlalchemy.engine import URL

from tests.support.factories import make_challenge, make_token, make_user
from tests.support.installation import ROLES, roles, run_roles_script
from tests.support.jobs import process
from tests.support.phases import complete
from tests.support.postgres import PostgresServer, conninfo, postgres_server
from tests.support.receiver import receiving
from tests.support.scored import make_published
from tests.support.services import in_full, needed
from vocboard import migrations
from vocboard.app.accounts.administration import create_user
from vocboard.app.accounts.models import Role, User
from vocboard.app.accounts.own_data import stored_about
from vocboard.app.accounts.people import new_user
from vocboard.app.administering import work
from vocboard.app.administering.measures import measures
from vocboard.app.audit import service as audit
from vocboard.app.audit.models import AuditEvent
from vocboard.app.database import Database, now
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.leaderboards import freezing
from vocboard.app.leaderboards.models import FrozenLeaderboard
from vocboard.app.messaging import outbox, undelivered
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.notifications import emails
from vocboard.app.notifications.models import Notification, NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.participating import deadlines
from vocboard.app.participating.leaving import Naming, delete_account
from vocboard.app.settings import Settings
from vocboard.app.webhooks import service as webhooks
from vocboard.app.webhooks.events import emit
from vocboard.app.webhooks.models import CHOICES, Event
from vocboard.app.webhooks.service import Owner
from vocboard.worker.work import work_next

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


def test_web_reads_what_people_may_download_about_themselves(database: URL) -> None:
    web = database.set(username="vocboard_web", password=PASSWORDS["VOCBOARD_WEB_PASSWORD"])
    with contextlib.closing(Database(in_full(web))) as opened, opened.reading() as session:
        assert not any(stored_about(session, User(id=uuid.uuid4(), email="nobody@lab.example")).values())


def test_web_shows_administrators_what_failed_without_the_texts_of_email(database: URL) -> None:
    with contextlib.closing(Database(in_full(database))) as opened, opened.writing() as session:
        for email in ("gone@lab.example", "waiting@lab.example"):
            outbox.put(session, to=email, template="approved", site="https://voc.example")
        for job in session.scalars(select(Job)):
            message = session.get_one(OutgoingMail, job.key)
            job.failure = outbox.MailFailure.REJECTED if message.recipient.startswith("gone") else None
            job.finished_at = now() if job.failure else None
    web = database.set(username="vocboard_web", password=PASSWORDS["VOCBOARD_WEB_PASSWORD"])
    with contextlib.closing(Database(in_full(web))) as opened, opened.writing() as session:
        [gone] = undelivered.page_of(session).items
        undelivered.retry(session, message_id=gone.id)
        assert [one.due for one in work.unfinished(session) if one.kind is Kind.MAIL] == [2]
        assert not any((work.failed(session), work.workers(session), work.failed_submissions(session)))
        outbox.forget(session, email="waiting@lab.example", name="Wanda")
    for statement in ("SELECT body FROM outbox", "UPDATE outbox SET is_forgotten = false", "DELETE FROM outbox"):
        with connect(database, "vocboard_web") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


def test_web_counts_the_connections_of_all_roles(database: URL) -> None:
    web = database.set(username="vocboard_web", password=PASSWORDS["VOCBOARD_WEB_PASSWORD"])
    others = (connect(database, "vocboard_worker"), connect(database, "vocboard_mail"))
    with others[0], others[1], contextlib.closing(Database(in_full(web))) as opened, opened.reading() as session:
        found = {family.name: family.samples for family in measures(session)}
    assert found["vocboard_database_connections"][0].value >= 3


@pytest.mark.parametrize(
    ("columns", "table"),
    [("", "users"), ("", "sessions"), ("", "api_tokens"), ("", "audit_events"), ("email", "bans")],
)
def test_worker_knows_no_people(database: URL, columns: str, table: str) -> None:
    with connect(database, "vocboard_worker") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(f"SELECT {columns} FROM {table}")  # type: ignore[arg-type]


@pytest.mark.parametrize("table", ["sessions", "api_tokens", "submissions", "class_scores", "audit_events"])
def test_mail_sees_nothing_but_messages(database: URL, table: str) -> None:
    with connect(database, "vocboard_mail") as connection:
        connection.execute("SELECT FROM outbox")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(sql.SQL("SELECT FROM {}").format(sql.Identifier(table)))


def test_mail_sees_addresses_and_texts_of_those_alone_whom_it_has_to_write_to(database: URL) -> None:
    mail = database.set(username="vocboard_mail", password=PASSWORDS["VOCBOARD_MAIL_PASSWORD"])
    with contextlib.closing(Database(in_full(database))) as opened, opened.writing() as session:
        waiting, told, of_old = (make_user(session) for _ in range(3))
        yesterday = now() - timedelta(days=1)
        for person, at in ((waiting, yesterday), (told, yesterday), (of_old, now() - emails.RECORD_LIFETIME)):
            notify(session, [person.id], NotificationKind.SCORED, title="Scored", link="/")
            made = {"created_at": at, "mailed_at": None if person is waiting else at}
            session.execute(update(Notification).where(Notification.user_id == person.id).values(made))
    with connect(database, "vocboard_mail") as connection:
        assert connection.execute("SELECT email FROM users").fetchall() == [(waiting.email,)]
        for statement in ("SELECT password_hash FROM users", "UPDATE notifications SET mailed_at = NULL"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)
        seen = connection.execute("SELECT user_id FROM notifications ORDER BY created_at").fetchall()
        assert seen == [(of_old.id,), (waiting.id,)]
    with contextlib.closing(Database(in_full(mail))) as opened, opened.writing() as session:
        emails.put_due(session, site="https://voc.example")
        emails.remove_old(session)
    with connect(database, "vocboard_mail") as connection:
        assert connection.execute("SELECT email FROM users").fetchall() == []
    with connect(database, "vocboard_web") as connection:
        assert len(connection.execute("SELECT email FROM users").fetchall()) == 3
        kept = connection.execute("SELECT user_id FROM notifications WHERE mailed_at IS NOT NULL").fetchall()
        assert {row[0] for row in kept} == {waiting.id, told.id}


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO worker_heartbeats VALUES (gen_random_uuid(), 'host', 'scoring', now(), now())",
        "UPDATE worker_heartbeats SET looked_at = now()",
        "UPDATE worker_heartbeats SET kind = 'mail'",
        "DELETE FROM worker_heartbeats",
    ],
)
def test_mail_cannot_speak_for_other_workers(database: URL, statement: str) -> None:
    row = "INSERT INTO worker_heartbeats VALUES (gen_random_uuid(), 'host', %s, now(), now())"
    with psycopg.connect(conninfo(database)) as connection:
        connection.execute("DELETE FROM worker_heartbeats")
        connection.execute(row, ["scoring"])
    with connect(database, "vocboard_mail") as connection:
        connection.execute(row, ["mail"])
        connection.execute("UPDATE worker_heartbeats SET looked_at = now() WHERE kind = 'mail'")
        connection.execute("DELETE FROM worker_heartbeats WHERE kind = 'mail'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)  # type: ignore[arg-type]


def add_job(connection: psycopg.Connection, kind: str) -> None:
    connection.execute(
        "INSERT INTO jobs (id, created_at, kind, key, priority, not_before, attempts)"
        " VALUES (gen_random_uuid(), now(), %s, gen_random_uuid(), 1, now(), 0)",
        [kind],
    )


@pytest.mark.parametrize(
    ("role", "own", "other"),
    [
        ("vocboard_mail", "mail", "evaluation"),
        ("vocboard_mail", "mail_sweep", "freeze"),
        ("vocboard_worker", "import", "mail"),
    ],
)
def test_each_worker_sees_only_its_own_jobs(database: URL, role: str, own: str, other: str) -> None:
    with psycopg.connect(conninfo(database)) as connection:
        connection.execute("DELETE FROM jobs")
        for kind in (own, other):
            add_job(connection, kind)
    with connect(database, role) as connection:
        assert connection.execute("SELECT kind FROM jobs").fetchall() == [(own,)]
        assert connection.execute("UPDATE jobs SET attempts = 1").rowcount == 1
        add_job(connection, own)
        for statement in (
            f"UPDATE jobs SET kind = '{other}'",
            f"UPDATE jobs SET kind = '{other}' WHERE kind = '{own}'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)  # type: ignore[arg-type]
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            add_job(connection, other)
        assert connection.execute("DELETE FROM jobs").rowcount == 2
    with psycopg.connect(conninfo(database)) as connection:
        assert connection.execute("DELETE FROM jobs RETURNING kind, attempts").fetchall() == [(other, 0)]


@pytest.mark.parametrize("role", ["vocboard_web", "vocboard_worker"])
def test_neither_changes_tables_or_what_was_audited(database: URL, role: str) -> None:
    for statement in ("CREATE TABLE mine (id int)", "DROP TABLE submissions", "DELETE FROM audit_events"):
        with connect(database, role) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)
    url = database.set(username=role, password=PASSWORDS[f"{role.upper()}_PASSWORD"])
    with contextlib.closing(Database(in_full(url))) as opened, opened.writing() as session:
        audit.record(session, actor=None, action="rescore.apply", subject=audit.SERVER)


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


@pytest.fixture(scope="module")
def rows(database: URL) -> dict[str, str]:
    """Add a person, a challenge, a method and a submission, as an administrator; return their ids by table."""
    tables = ("users", "challenges", "phases", "teams", "methods", "submissions", "ground_truth_versions", "rescores")
    ids = {table: str(uuid.uuid4()) for table in tables}
    statements = {
        "users": {"email": "ada@lab.example", "name": "Ada", "password_hash": "", "role": "organiser"},
        "challenges": {"slug": "voc", "title": "VOC", "edition": "VOC2007"},
        "phases": {"challenge_id": ids["challenges"], "key": "main", "truth_phase_id": ids["phases"]},
        "teams": {"challenge_id": ids["challenges"]},
        "methods": {"name": "Method", "challenge_id": ids["challenges"], "team_id": ids["teams"]},
        "submissions": submission(ids, state="scored", finished_at="2026-01-01T00:00:00Z"),
        "ground_truth_versions": {**of_phase(ids), "number": 7, "state": "uploaded"},
        "rescores": {
            "challenge_id": ids["challenges"],
            "ground_truth_version_id": ids["ground_truth_versions"],
            "state": "running",
        },
    }
    with psycopg.connect(conninfo(database)) as connection:
        for table, values in statements.items():
            insert(connection, table, {"id": ids[table], **values})
    return ids


def of_phase(ids: dict[str, str]) -> dict[str, object]:
    return {"challenge_id": ids["challenges"], "phase_id": ids["phases"]}


def submission(ids: dict[str, str], **changed: object) -> dict[str, object]:
    of_team = {"user_id": ids["users"], "team_id": ids["teams"], "method_id": ids["methods"]}
    references = {**of_phase(ids), **of_team}
    archive = {"archive_sha256": "0" * 64, "archive_bytes": 1, "archive_name": "results.tar"}
    return {**references, **archive, "queued_at": "2026-01-01T00:00:00Z", "state": "queued", **changed}


def insert(connection: psycopg.Connection, table: str, values: dict[str, object]) -> None:
    """Add a row; columns that need a value and get none here get an empty one of their type."""
    filled = dict(values)
    needed_columns = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' AND table_name = %s AND is_nullable = 'NO' AND column_default IS NULL",
        [table],
    ).fetchall()
    for column, kind in needed_columns:
        filled.setdefault(column, empty_value(column, kind))
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(table),
        sql.SQL(", ").join(map(sql.Identifier, filled)),
        sql.SQL(", ").join(sql.Placeholder() * len(filled)),
    )
    connection.execute(statement, list(filled.values()))


def empty_value(column: str, kind: str) -> object:
    defaults = {"visibility": "draft", "quota_count": 1, "quota_period_seconds": 1, "detail": "curves", "number": 1}
    by_kind = {"integer": 0, "bigint": 0, "json": "[]", "boolean": False, "uuid": uuid.uuid4()}
    if kind.startswith("timestamp"):
        return "2026-01-01T00:00:00Z"
    return defaults.get(column, by_kind.get(kind, ""))


FORBIDDEN_CHANGES = [
    ("phases", "current_scoring_id = gen_random_uuid()"),
    ("phases", "key = 'first'"),
    ("submissions", "phase_id = gen_random_uuid()"),
    ("challenges", "edition_version = 2"),
    ("edition_versions", "file = ''"),
    ("edition_versions", "made_current_at = now()"),
    ("submissions", "archive_sha256 = repeat('1', 64)"),
    ("submissions", "archive_bytes = 2"),
    ("submissions", "columns_sha256 = repeat('1', 64)"),
    ("submissions", "columns_reader = 9"),
    ("submissions", "challenge_id = gen_random_uuid()"),
    ("submissions", "user_id = gen_random_uuid()"),
    ("submissions", "state = 'failed'"),
    ("submissions", "state = 'evaluating'"),
    ("jobs", "lease_id = gen_random_uuid()"),
    ("jobs", "attempts = 9"),
    ("jobs", "finished_at = now()"),
    ("jobs", "claimed_at = now()"),
    ("submissions", "current_evaluation_id = gen_random_uuid()"),
    ("ground_truth_versions", "state = 'ready'"),
    ("ground_truth_versions", "confirmed_at = now()"),  # it has not been imported
    ("rescores", "state = 'ready'"),
    ("rescores", "state = 'applied'"),
    ("rescores", "scoring_id = gen_random_uuid()"),
    ("rescores", "apply_requested_at = now()"),  # it is not ready
    ("rescores", "report = '{}'"),
    ("rescore_items", "finished_at = now()"),
]


@pytest.mark.parametrize(("table", "change"), FORBIDDEN_CHANGES)
def test_web_cannot_change_what_is_the_workers(database: URL, rows: dict[str, str], table: str, change: str) -> None:
    with connect(database, "vocboard_web") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(f"UPDATE {table} SET {change}")  # type: ignore[arg-type]


def test_web_cannot_show_everything_of_a_challenge_with_ground_truth(database: URL, rows: dict[str, str]) -> None:
    show = "UPDATE phases SET detail = 'everything'"
    with connect(database, "vocboard_web") as connection:
        assert connection.execute(show).rowcount == 1
        connection.rollback()
    with psycopg.connect(conninfo(database)) as connection:
        connection.execute("SET session_replication_role = replica")  # any scoring will do
        connection.execute("UPDATE phases SET current_scoring_id = gen_random_uuid()")
    try:
        with connect(database, "vocboard_web") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(show)
    finally:
        with psycopg.connect(conninfo(database)) as connection:
            connection.execute("UPDATE phases SET current_scoring_id = NULL")


def test_web_adds_only_phases_with_the_current_scoring_of_their_ground_truth(
    database: URL, rows: dict[str, str]
) -> None:
    own = str(uuid.uuid4())
    phase = {"challenge_id": rows["challenges"], "key": "later", "truth_phase_id": rows["phases"]}
    with connect(database, "vocboard_web") as connection:
        for wrong in (
            {"current_scoring_id": uuid.uuid4()},
            {"id": own, "truth_phase_id": own, "current_scoring_id": uuid.uuid4()},
            {"truth_phase_id": uuid.uuid4()},
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                insert(connection, "phases", {**phase, **wrong})
        insert(connection, "phases", dict(phase))
        insert(connection, "phases", {**phase, "id": own, "key": "own", "truth_phase_id": own})
        assert connection.execute("DELETE FROM phases WHERE key = 'later'").rowcount == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("DELETE FROM phases WHERE key = 'main'")
        connection.rollback()


def test_web_adds_submissions_and_ground_truth_only_to_phases_of_their_challenge(
    database: URL, rows: dict[str, str]
) -> None:
    with connect(database, "vocboard_web") as connection:
        insert(connection, "challenges", {"id": (other := uuid.uuid4()), "slug": "other", "edition_version": 1})
        for table, values in (
            ("submissions", submission(rows)),
            ("ground_truth_versions", {**of_phase(rows), "number": 1, "file_name": "truth.tar", "state": "uploaded"}),
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                insert(connection, table, {**values, "challenge_id": other})
        connection.rollback()


@pytest.mark.parametrize(
    "change", ["published_at = now()", "description = 'x'", "state = 'withdrawn', finished_at = now()"]
)
def test_web_can_change_what_people_decide(database: URL, rows: dict[str, str], change: str) -> None:
    with connect(database, "vocboard_web") as connection:
        assert connection.execute(f"UPDATE submissions SET {change}").rowcount == 1  # type: ignore[arg-type]
        connection.rollback()


@pytest.mark.parametrize(
    "changed",
    [{"state": "scored"}, {"state": "evaluating"}],
    ids=lambda changed: next(iter(changed)),
)
def test_web_adds_only_submissions_that_wait(database: URL, rows: dict[str, str], changed: dict[str, object]) -> None:
    with connect(database, "vocboard_web") as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            insert(connection, "submissions", submission(rows, **changed))
        insert(connection, "submissions", submission(rows))
        connection.rollback()


@pytest.mark.parametrize(
    "changed",
    [
        {"state": "ready"},
        {"state": "importing"},
        {"sha256": "0" * 64},
        {"summary": "{}"},
        {"competitions": "[]"},
        {"image_sets": b"made up"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_web_adds_only_ground_truth_that_waits_for_the_worker(
    database: URL, rows: dict[str, str], changed: dict[str, object]
) -> None:
    version = {**of_phase(rows), "number": 1, "file_name": "truth.tar", "state": "uploaded"}
    with connect(database, "vocboard_web") as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            insert(connection, "ground_truth_versions", {**version, **changed})
        insert(connection, "ground_truth_versions", dict(version))
        connection.rollback()


def test_web_adds_only_rescores_that_have_not_begun(database: URL, rows: dict[str, str]) -> None:
    wanted = {
        "challenge_id": rows["challenges"],
        "ground_truth_version_id": rows["ground_truth_versions"],
        "state": "running",
    }
    with connect(database, "vocboard_web") as connection:
        for changed in ({"state": "ready"}, {"report": "{}"}, {"apply_requested_at": "2026-01-01T00:00:00Z"}):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                insert(connection, "rescores", {**wanted, **changed})
        insert(connection, "rescores", dict(wanted))
        connection.rollback()


def test_web_proposes_rules_and_does_not_change_them(
    server: PostgresServer, database: URL, rows: dict[str, str]
) -> None:
    challenge = {"challenge_id": rows["challenges"]}
    with psycopg.connect(conninfo(database)) as owner:
        owner.execute("UPDATE challenges SET edition_file = 'first', edition_version = 1")
        scoring = {**challenge, "id": uuid.uuid4(), "ground_truth_version_id": rows["ground_truth_versions"]}
        insert(owner, "scorings", dict(scoring))
    with connect(database, "vocboard_web") as connection:
        connection.execute("UPDATE challenges SET edition_file = 'first'")  # nothing has been scored
        connection.commit()
        for wrong in ({"number": 1, "file": "forged"}, {"number": 2, "made_current_at": "2026-01-01T00:00:00Z"}):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                insert(connection, "edition_versions", {**challenge, **wrong})
        insert(connection, "edition_versions", {**challenge, "number": 1, "file": "first"})
        insert(connection, "edition_versions", {**challenge, "number": 2, "file": "second"})
        connection.rollback()
    with psycopg.connect(conninfo(database)) as owner:
        owner.execute("UPDATE phases SET current_scoring_id = %s", [scoring["id"]])
    try:
        with connect(database, "vocboard_web") as connection:
            for change in ("edition_file = 'second'", "edition = 'VOC2012'"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                    connection.execute(f"UPDATE challenges SET {change}")  # type: ignore[arg-type]
        with connect(database, "vocboard_worker") as connection:
            connection.execute("UPDATE challenges SET edition_file = 'second', edition_version = 2")
            connection.rollback()
    finally:
        with psycopg.connect(conninfo(database)) as owner:
            owner.execute("UPDATE phases SET current_scoring_id = NULL")
            owner.execute("UPDATE challenges SET edition_file = NULL")


def test_web_removes_no_ground_truth_but_what_failed(database: URL, rows: dict[str, str]) -> None:
    with connect(database, "vocboard_web") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("DELETE FROM ground_truth_versions")


def test_web_discards_a_rescore(database: URL, rows: dict[str, str]) -> None:
    with connect(database, "vocboard_web") as connection:
        assert connection.execute("UPDATE rescores SET state = 'discarded', finished_at = now()").rowcount == 1
        connection.rollback()


def test_web_cannot_switch_the_guards_off(database: URL, rows: dict[str, str]) -> None:
    for statement in (
        "ALTER TABLE submissions DISABLE TRIGGER ALL",
        "SET session_replication_role = replica",
        "DROP FUNCTION guard_submissions_against_vocboard_web() CASCADE",
    ):
        with connect(database, "vocboard_web") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


def test_the_script_runs_again_and_gives_new_passwords(server: PostgresServer, database: URL) -> None:
    changed = {**PASSWORDS, "VOCBOARD_MAIL_PASSWORD": "another"}
    run_roles_script(server, changed)
    psycopg.connect(conninfo(database.set(username="vocboard_mail", password="another"))).close()
    run_roles_script(server, PASSWORDS)


def test_web_deletes_an_account_and_changes_nothing_else_of_frozen_leaderboards_and_the_log(database: URL) -> None:
    with contextlib.closing(Database(in_full(database))) as opened, opened.writing() as session:
        person = make_user(session, name="Zephyrine Quillfeather")
        challenge = make_challenge(session, competitions=["comp1"], closes_at=now() - timedelta(hours=5))
        given = {"published_at": now() - timedelta(hours=6), "began_at": now() - timedelta(hours=7)}
        make_published(session, challenge, person, "Winner", 0.7, **{**given, "contributors": person.name})
        freezing.freeze_due(session, complete(session, challenge.id), at=now() + timedelta(days=2))
        frozen = session.scalars(select(FrozenLeaderboard).where(FrozenLeaderboard.challenge_id == challenge.id)).one()
        assert frozen.is_final
        nested = {"name": {"from": "Z. Quillfeather", "to": person.name}, "organisers": [{"email": person.email}, {}]}
        details = {"person": person.name, "email": person.email, "count": 1, **nested}
        audit.record(session, actor=None, action="quota.grant", subject=challenge, details=details)
        make_token(session, person)
    web = database.set(username="vocboard_web", password=PASSWORDS["VOCBOARD_WEB_PASSWORD"])
    with contextlib.closing(Database(in_full(web))) as opened:
        with opened.writing() as session:
            delete_account(session, user=person, naming=Naming.WITHOUT_NAME, settings=Settings())
        with opened.reading() as session:
            [entry] = session.get_one(FrozenLeaderboard, frozen.id).content["entries"]
            assert (entry["contributors"], entry["mean"]) == ("Deleted account", 0.7)
            logged = session.scalars(select(AuditEvent.details).where(AuditEvent.action == "quota.grant")).one()
            assert logged == {
                "person": "Deleted account",
                "email": "Deleted account",
                "count": 1,
                "name": {"from": "Z. Quillfeather", "to": "Deleted account"},
                "organisers": [{"email": "Deleted account"}, {}],
            }
    for statement in (
        "UPDATE frozen_leaderboards SET content = replace(content::text, '0.7', '0.8')::json",
        "UPDATE frozen_leaderboards SET content = replace(content::text, 'Winner', 'Loser')::json",
        "UPDATE frozen_leaderboards SET is_final = false",
        """UPDATE audit_events SET details = '{"person": "Eve", "email": "Deleted account", "count": 1}'""",
        """UPDATE audit_events SET details = jsonb_set(details::jsonb, '{name,from}', '"Eve"')::json""",
        """UPDATE audit_events SET details = jsonb_set(details::jsonb, '{name,by}', '"Deleted account"')::json""",
        """UPDATE audit_events SET details = jsonb_set(details::jsonb, '{organisers}', '"Deleted account"')::json""",
        "UPDATE audit_events SET details = (details::jsonb #- '{name,from}')::json",
        "UPDATE audit_events SET details = '{}'",
        "UPDATE audit_events SET action = 'quota.end_grant'",
    ):
        with connect(database, "vocboard_web") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)  # type: ignore[call-overload]


def test_web_makes_an_account_that_goes_on_from_a_deleted_one(database: URL) -> None:
    settings = Settings(secret_key="the secret of the server")
    with contextlib.closing(Database(in_full(database))) as opened, opened.writing() as session:
        person = make_user(session, email="again@lab.example")
    web = database.set(username="vocboard_web", password=PASSWORDS["VOCBOARD_WEB_PASSWORD"])
    with contextlib.closing(Database(in_full(web))) as opened:
        with opened.writing() as session:
            delete_account(session, user=person, naming=Naming.WITHOUT_NAME, settings=settings)
        given = {"email": "again@lab.example", "name": "Ada", "affiliation": "", "password": "a password of my own"}
        new = new_user(**given, role=Role.ORGANISER)
        with opened.writing() as session:
            assert create_user(session, person=new, settings=settings).id == person.id


def test_worker_reminds_of_deadlines_once_without_reading_what_people_are_told(database: URL) -> None:
    with contextlib.closing(Database(in_full(database))) as opened, opened.writing() as session:
        person, closes_at = make_user(session), now() + timedelta(hours=5)
        challenge = make_challenge(session, competitions=["comp1"], closes_at=closes_at)
        make_published(session, challenge, person, "Mine", 0.7, created_at=closes_at - timedelta(days=9))
    worker = database.set(username="vocboard_worker", password=PASSWORDS["VOCBOARD_WORKER_PASSWORD"])
    with contextlib.closing(Database(in_full(worker))) as opened:
        for _ in range(2):
            with opened.writing() as session:
                deadlines.remind(session)
    with contextlib.closing(Database(in_full(database))) as opened, opened.reading() as session:
        told = session.scalars(select(Notification.kind).where(Notification.user_id == person.id)).all()
    assert told == [NotificationKind.DEADLINE]


def test_webhooks_are_added_by_web_told_by_the_worker_and_served_by_mail(database: URL, tmp_path: Path) -> None:
    """The worker sees neither their addresses nor secrets; each does its part with its own role."""
    settings = Settings(data_directory=tmp_path, webhooks_anywhere=True, webhook_key="k" * 40)
    opened = {}
    for role in ("owner", "web", "worker", "mail"):
        url = database.set(username=f"vocboard_{role}", password=PASSWORDS[f"VOCBOARD_{role.upper()}_PASSWORD"])
        opened[role] = Database(in_full(url))
    with opened["owner"].writing() as session:
        person = make_user(session)
        challenge = make_challenge(session)
        jobs.add(session, Kind.MAIL_SWEEP, jobs.SWEEP_KEY)
    with receiving() as receiver:
        with opened["web"].writing() as session:
            webhooks.add(session, owner=Owner(person), url=receiver.url, chosen=CHOICES, settings=settings)
        with opened["worker"].writing() as session:
            emit(session, Event.SCORED, [([person.id], {"submission": "1"})], challenge_id=challenge.id)
        for column in ("url", "sealed_secret"):
            forbidden = pytest.raises(psycopg.errors.InsufficientPrivilege)
            with connect(database, "vocboard_worker") as connection, forbidden:
                connection.execute(sql.SQL("SELECT {} FROM webhooks").format(sql.Identifier(column)))
        worker = process(opened["mail"], None, settings, Kind.MAIL_SWEEP, Kind.WEBHOOK)
        while work_next(worker):
            pass
    assert len(receiver.got) == 1
    with opened["web"].writing() as session:
        [webhook] = webhooks.webhooks_of(session, Owner(person))
        [delivery] = webhooks.deliveries(session, Owner(person), webhook.id).items
        assert (delivery.is_delivered, delivery.status, webhooks.next_attempts(session, [webhook])) == (True, 204, {})
        webhooks.remove(session, owner=Owner(person), webhook_id=webhook.id)
    for each in opened.values():
        each.close()
