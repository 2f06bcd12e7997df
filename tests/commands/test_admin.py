"""`vocboard admin`, as operators call it."""

import io
import json
import os
import pwd
import re
import shutil
import socket
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.support import own_rules
from tests.support.archives import stored_path
from tests.support.challenge_pages import PAGE
from tests.support.factories import make_challenge, make_organiser, make_truth, make_user
from tests.support.jobs import import_next
from tests.support.phases import main_truth
from tests.support.scored import make_scored
from tests.support.signing_in import sign_in
from tests.support.trees import write_tree
from vocboard.app.accounts import administration, service
from vocboard.app.accounts.models import LinkedIdentity, Role, Scope, SecondFactor, User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.bans import ban_from
from vocboard.app.challenges.models import (
    Admission,
    Ban,
    Challenge,
    ChallengePhase,
    Detail,
    ExtraQuota,
    Freeze,
    TruthState,
)
from vocboard.app.challenges.phases import PhaseState, current_phase, phases_of
from vocboard.app.challenges.service import get_organised, get_visible
from vocboard.app.database import Database, now
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.messaging import outbox
from vocboard.app.rescores import service as rescores
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions.models import State, Submission
from vocboard.commands.admin.rescores import report_when_ready
from vocboard.commands.main import main
from vocboard.evaluator.problems import Problem, Severity
from vocboard.migrations import is_missing
from vocboard.worker.ground_truth_directory import GroundTruthDirectory

ROOT = Path(__file__).parents[2]


@pytest.fixture
def settings(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(tmp_path / "data"))
    return Settings()


def test_a_directory_without_a_server_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for directory in (tmp_path, tmp_path / "missing"):
        monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(directory))
        for command in (["admin", "list-users"], ["admin", "doctor"], ["worker"]):
            with pytest.raises(SystemExit, match=r"there is no database sqlite:.*vocboard\.sqlite3"):
                main(command)
        assert main(["admin", "check-edition", str(ROOT / "docs" / "editions" / "examples" / "aerial.toml")]) == 0
        assert list(tmp_path.iterdir()) == []
    assert not is_missing(f"sqlite:///file:{tmp_path}/vocboard.sqlite3?uri=true")
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", "postgresql+psycopg://vocboard@127.0.0.1:1/vocboard")
    assert main(["admin", "list-users"]) == 1
    assert "/vocboard cannot be used: connection failed" in capsys.readouterr().err
    for command in (["migrate"], ["serve", "--port", "0"]):
        with pytest.raises(SystemExit, match="/vocboard cannot be used: connection failed"):
            main(command)


@pytest.mark.usefixtures("settings")
def test_a_worker_whose_store_is_away_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variables = {"": "s3://bucket", "_ENDPOINT": "http://127.0.0.1:1", "_REGION": "eu", "_KEY_ID": "id", "_KEY": "key"}
    for name, value in variables.items():
        monkeypatch.setenv(f"VOCBOARD_STORE{name}", value)
    assert main(["worker"]) == 2
    line = "vocboard worker: the store of archives and ground truth cannot be used: Could not connect to "
    assert capsys.readouterr().err.splitlines()[-1].startswith(line)


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["migrate"]])
def test_a_directory_that_cannot_be_made_is_named(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(tmp_path / "file" / "data"))
    assert main(command) == 2
    assert f"vocboard: {tmp_path / 'file' / 'data'}: Not a directory" in capsys.readouterr().err


@pytest.fixture
def embedded(settings: Settings) -> Iterator[Database]:
    database = Database(settings.database)
    yield database
    database.close()


def admin(*arguments: str) -> int:
    return main(["admin", *arguments])


def make(email: str, role: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert admin("create-user", email, "--name", "Somebody", "--role", role) == 0
    return capsys.readouterr().out.strip()


def test_a_password_is_made_up_and_shown_unless_given(
    embedded: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(embedded, "ada@lab.example", make("ada@lab.example", "participant", capsys))
    monkeypatch.setattr("sys.stdin", io.StringIO("a password of my own\n"))
    assert admin("create-user", "eve@lab.example", "--name", "Eve", "--password-stdin") == 0
    assert capsys.readouterr().out == ""
    sign_in(embedded, "eve@lab.example", "a password of my own")


@pytest.mark.parametrize("is_banned", [False, True])
@pytest.mark.parametrize("command", ["create-user", "confirm-user"])
def test_an_account_goes_on_from_a_deleted_one_of_the_mailbox(
    embedded: Database, settings: Settings, command: str, is_banned: bool
) -> None:
    with embedded.writing() as session:
        challenge = make_challenge(session, organiser=make_user(session, role=Role.ADMINISTRATOR))
        person = make_user(session, email="ada@lab.example")
        for challenge_id in [challenge.id, *[None] * is_banned]:
            session.add(Ban(user_id=person.id, challenge_id=challenge_id, reason="Two accounts"))
        make_user(session, email="bob@lab.example")
    assert admin("delete-user", "ada@lab.example", "--results", "without-name") == 0
    assert admin("change-address", "bob@lab.example", "ada+2@lab.example") == 1
    if command == "confirm-user":
        with embedded.writing() as session:
            make_user(session, email="ada+2@lab.example", name="Ada", confirmed=False)
        assert admin("confirm-user", "ada+2@lab.example") == 0
    else:
        assert admin("create-user", "ada+2@lab.example", "--name", "Ada", "--role", "organiser") == 0
    with embedded.writing() as session:
        [found] = session.scalars(select(User).where(User.email == "ada+2@lab.example"))
        assert (found.id, found.name, found.is_confirmed, found.is_approved) == (person.id, "Ada", True, True)
        assert found.role is (Role.ORGANISER if command == "create-user" else Role.PARTICIPANT)
        assert (found.disabled_at is not None) is is_banned
        assert ban_from(session, user_id=person.id, challenge_id=challenge.id) is not None
        if command == "create-user":
            assert session.scalar(select(func.count()).select_from(User)) == 3
    if is_banned:
        assert admin("lift-ban", "ada+2@lab.example") == 0


@pytest.mark.parametrize(
    "command", [["serve"], ["worker"], ["worker", "--only", "mail"], ["beat"], ["migrate"], ["admin", "list-users"]]
)
def test_wrong_settings_are_named_with_how_to_fix_them(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOCBOARD_ENVIRONMENT", "production")
    monkeypatch.setenv("VOCBOARD_SECRET_KEY", "hunter2")
    monkeypatch.setenv("VOCBOARD_PUBLIC_URL", "http://board.example")
    monkeypatch.setenv("VOCBOARD_LEASE", "soon")
    assert main(command) == 2
    assert "VOCBOARD_LEASE: use ISO 8601, such as PT2M" in capsys.readouterr().err
    monkeypatch.delenv("VOCBOARD_LEASE")
    assert main(command) == 2
    printed = capsys.readouterr().err.splitlines()
    assert printed[0] == f"vocboard {command[0]}: settings are wrong or missing:"
    assert [line.split()[0] for line in printed[1:3]] == ["VOCBOARD_SECRET_KEY", "VOCBOARD_PUBLIC_URL"]
    assert "hunter2" not in "".join(printed)
    monkeypatch.delenv("VOCBOARD_SECRET_KEY")
    monkeypatch.setenv("VOCBOARD_PUBLIC_URL", "https://board.example")
    assert main(command) == 2
    assert "_URL is missing: set it for this process" in capsys.readouterr().err


def test_errors_are_reported_on_standard_error(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    assert admin("create-user", "nobody", "--name", "") == 1
    assert "email: This is not an email address." in capsys.readouterr().err
    assert admin("set-role", "nobody@lab.example", "organiser") == 1
    assert "nobody@lab.example" in capsys.readouterr().err


def test_a_mailbox_gets_one_account_however_its_address_is_written(
    embedded: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    with embedded.writing() as session:
        make_user(session, email="ad.a@gmail.com", confirmed=False)
    make("a.da@gmail.com", "participant", capsys)
    for again in ("ada@gmail.com", "A.Da+2@GoogleMail.com"):
        assert admin("create-user", again, "--name", "Ada") == 1
        assert "already has an account, with the address a.da@gmail.com" in capsys.readouterr().err
    assert admin("confirm-user", "ad.a@gmail.com") == 1
    assert "already has an account, with the address a.da@gmail.com" in capsys.readouterr().err
    assert admin("create-user", "a.da@gmail.com", "--name", "Ada") == 1
    assert "a.da@gmail.com already has an account." in capsys.readouterr().err
    assert admin("confirm-user", "a.da@gmail.com") == 0


def test_roles_disabling_and_passwords(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    make("ada@lab.example", "participant", capsys)
    assert admin("set-role", "ada@lab.example", "organiser") == 0
    assert admin("disable-user", "ada@lab.example") == 0
    assert admin("list-users", "--json") == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["email"], listed["role"], listed["disabled_at"] is None) == ("ada@lab.example", "organiser", False)
    assert admin("enable-user", "ada@lab.example") == 0
    assert admin("reset-password", "ada@lab.example") == 0
    sign_in(embedded, "ada@lab.example", capsys.readouterr().out.strip())
    assert admin("list-users") == 0
    assert "ada@lab.example  Somebody  organiser\n" in capsys.readouterr().out


def test_a_token_works_for_what_it_was_made_for(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    make("ada@lab.example", "organiser", capsys)
    assert admin("create-token", "ada@lab.example", "--days", "9999999999") == 0  # the maximum that there is
    capsys.readouterr()
    assert admin("create-token", "ada@lab.example", "--scope", "organise", "--days", "1") == 0
    with embedded.reading() as session:
        found = service.user_of_token(session, capsys.readouterr().out.strip())
    assert found[1].granted == {Scope.ORGANISE}


@pytest.mark.parametrize(
    ("below", "given"),
    [
        pytest.param("", "VOC2012", id="the tree"),
        pytest.param("tree", "tree", id="a directory with the tree, such as a mounted VOCdevkit"),
        pytest.param("tree/VOCdevkit", "tree", id="a directory with VOCdevkit"),
        pytest.param("elsewhere", "tree", id="a directory with a link to the tree"),
    ],
)
def test_a_challenge_and_its_ground_truth_from_a_directory(
    embedded: Database, settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path, below: str, given: str
) -> None:
    make("ada@lab.example", "organiser", capsys)
    new = ["create-challenge", "cars", "--organiser", "ada@lab.example", "--title", "Cars", "--visibility", "public"]
    assert admin(*new, "--edition", "VOC2012", "--competition", "comp3", "--opens-at", "2020-01-01") == 0
    write_tree(tmp_path / below)
    if not (tmp_path / given).exists():
        (tmp_path / given).mkdir()
        (tmp_path / given / "VOC2012").symlink_to(tmp_path / below / "VOC2012")
    hand_in = ["import-truth", "cars", str(tmp_path / given), "--organiser", "ada@lab.example"]
    assert admin(*hand_in) == 1
    assert "No worker has started" in capsys.readouterr().err
    GroundTruthDirectory(settings).private_key()
    with ThreadPoolExecutor(1) as pool:
        command = pool.submit(admin, *hand_in, "--wait")
        while not command.done():
            import_next(embedded, settings)
    assert command.result() == 1
    assert "confirmed: vocboard admin confirm-truth cars 1 --organiser ada@lab.example\n" in capsys.readouterr().err
    with embedded.reading() as session:  # classes lack positives
        assert current_phase(get_visible(session, "cars", None), now()).state(now()) is PhaseState.NOT_READY
    assert admin("confirm-truth", "cars", "1", "--organiser", "ada@lab.example") == 0
    assert import_next(embedded, settings)
    with embedded.reading() as session:
        assert current_phase(get_visible(session, "cars", None), now()).state(now()) is PhaseState.OPEN


def test_a_challenge_takes_the_rules_of_phases(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    make("ada@lab.example", "organiser", capsys)
    new = ["create-challenge", "cars", "--organiser", "ada@lab.example", "--title", "Cars", "--edition", "VOC2012"]
    rules = ["--admission", "approved", "--freeze", "never", "--ladder-step", "0.01", "--opens-at", "none"]
    assert admin(*new, *rules) == 0
    with embedded.reading() as session:
        phase = session.scalars(select(ChallengePhase)).one()
        assert (phase.admission, phase.freeze, phase.ladder_step) == (Admission.APPROVED, Freeze.NEVER, 0.01)


def test_a_challenge_gets_what_its_page_says(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    make("ada@lab.example", "organiser", capsys)
    new = ["create-challenge", "cars", "--organiser", "ada@lab.example", "--title", "Cars", "--edition", "VOC2012"]
    texts = {name: PAGE[name] for name in ("summary", "description", "website", "contact", "licence", "citation")}
    options = [part for name, value in texts.items() for part in (f"--{name}", value)]
    links = [part for link in PAGE["data_links"] for part in ("--data-link", json.dumps(link))]
    assert admin(*new, *options, *links, "--organised-by", PAGE["organised_by"]) == 0
    with embedded.reading() as session:
        challenge = session.scalars(select(Challenge)).one()
        assert {name: getattr(challenge, name) for name in PAGE} == PAGE
    with pytest.raises(SystemExit):
        admin(*new, "--data-link", '{"title": 1}')
    assert "invalid data_link value" in capsys.readouterr().err


# `prune` logs each archive of a submission that it removes, regardless of the caller:
# tests/app/submissions/test_pruning.py.
CHANGING_NOTHING = {
    *("list-phases", "list-phase-people", "list-users", "undelivered-mail", "status", "show-storage"),
    *("check-edition", "compare-images", "move-archives", "prune", "rescores"),
    *("doctor", "list-backups", "make-backup-key"),
}
# tests/commands/test_admin_moderation.py runs these, and checks that the log names the operator.
TESTED_WITH_MODERATION = {
    *("disqualify", "reinstate", "unpublish", "allow-publishing", "fail", "ban", "lift-ban", "log"),
    *("export-challenge", "import-challenge", "archive-challenge", "reopen-challenge", "delete-draft"),
    *("add-organiser", "remove-organiser", "hand-over"),
}
TESTED_WITH_BACKUPS = {"backup", "restore", "rotate-secret-key", "rotate-worker-key"}  # tests/commands/test_backups.py
CHANGES = {
    "create-user": ["newest@lab.example", "--name", "Newest"],
    "set-role": ["ada@lab.example", "organiser"],
    "confirm-user": ["new@lab.example"],
    "approve-user": ["waiting@lab.example"],
    "reject-user": ["waiting@lab.example"],
    "disable-user": ["ada@lab.example"],
    "enable-user": ["disabled@lab.example"],
    "end-sessions": ["ada@lab.example"],
    "resend-confirmation": ["new@lab.example"],
    "change-profile": ["ada@lab.example", "--name", "Ada Lovelace"],
    "retry-mail": [],
    "requeue": ["diagnosis", "error"],
    "delete-user": ["ada@lab.example", "--results", "without-name"],
    "remove-second-factor": ["ada@lab.example"],
    "unlink-identity": ["ada@lab.example", "https://orcid.org"],
    "change-address": ["ada@lab.example", "ada@elsewhere.example"],
    "reset-password": ["ada@lab.example"],
    "create-token": ["ada@lab.example"],
    "create-challenge": ["voc", "--organiser", "olga@lab.example", "--edition", "VOC2007", "--title", "VOC"],
    "set-detail": ["ready", "everything", "--organiser", "olga@lab.example"],
    "add-phase": ["ready", "later", "--title", "Later", "--own-ground-truth", "--organiser", "olga@lab.example"],
    "copy-challenge": ["ready", "next", "--title", "Next year", "--organiser", "olga@lab.example"],
    "admit": ["ready", "someone@lab.example", "--organiser", "olga@lab.example"],
    "grant-quota": ["ready", "a@lab.example", "2", "--until", "2100-01-01", "--organiser", "olga@lab.example"],
    "change-phase": ["ready", "first", "--quota", "7", "--organiser", "olga@lab.example"],
    "remove-phase": ["ready", "first", "--organiser", "olga@lab.example"],
    "end-admission": ["ready", "known@lab.example", "--organiser", "olga@lab.example"],
    "change-quota": ["ready", "QUOTA", "--count", "5", "--organiser", "olga@lab.example"],
    "end-quota": ["ready", "QUOTA", "--organiser", "olga@lab.example"],
    "import-truth": ["ready", "TREE", "--organiser", "olga@lab.example"],
    "confirm-truth": ["scored", "WARNED", "--organiser", "olga@lab.example"],
    "rescore": [
        "scored",
        "--ground-truth-version=CURRENT",
        "--reason=New evaluator",
        "--organiser=olga@lab.example",
    ],
    "evaluate-again": ["FAILED", "--organiser", "olga@lab.example"],
    "apply-rescore": ["RESCORE", "--organiser", "olga@lab.example"],
    "discard-rescore": ["RESCORE", "--organiser", "olga@lab.example"],
}


@pytest.mark.parametrize("action", ["apply-rescore", "discard-rescore"])
def test_what_becomes_of_a_rescore_is_said_with_the_current_version(
    action: str, embedded: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescores, "MAX_WAIT", timedelta(0))  # no worker runs here
    make("olga@lab.example", "organiser", capsys)
    named = scored_challenge(embedded, is_being_rescored=True)
    assert admin(action, named["RESCORE"], "--organiser", "olga@lab.example") == 0
    outcome = {"apply-rescore": "a worker will apply it", "discard-rescore": "discarded"}[action]
    assert capsys.readouterr().out == f"{outcome}; version {named['CURRENT']} is current\n"


@pytest.mark.parametrize(
    ("ended", "status", "said"), [(State.SCORED, 0, "scored\n"), (State.FAILED, 1, "vocboard admin: no truth\n")]
)
def test_a_failed_submission_is_waited_for_when_it_is_evaluated_again(
    ended: State,
    status: int,
    said: str,
    embedded: Database,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make("olga@lab.example", "organiser", capsys)
    failed = uuid.UUID(scored_challenge(embedded, is_being_rescored=False)["FAILED"])

    def worker(_: float) -> None:
        with embedded.writing() as session:
            submission = session.get_one(Submission, failed)
            assert submission.state is State.QUEUED
            submission.state, submission.failure_detail = ended, "no truth"

    monkeypatch.setattr("vocboard.commands.admin.rescores.time.sleep", worker)
    assert admin("evaluate-again", str(failed), "--organiser", "olga@lab.example", "--wait") == status
    assert "".join(capsys.readouterr()) == said


def test_the_reason_of_a_rescore_is_replaced_when_it_is_applied(
    embedded: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescores, "MAX_WAIT", timedelta(0))  # no worker runs here
    make("olga@lab.example", "organiser", capsys)
    named = scored_challenge(embedded, is_being_rescored=True)
    assert admin("apply-rescore", named["RESCORE"], "--reason", " ", "--organiser", "olga@lab.example") == 1
    assert "reason" in capsys.readouterr().err
    assert admin("apply-rescore", named["RESCORE"], "--reason", "Two boxes", "--organiser", "olga@lab.example") == 0
    assert admin("rescores", "scored", "--organiser", "olga@lab.example") == 0
    assert re.search(r": Two boxes$", capsys.readouterr().out, re.MULTILINE)


def test_a_list_of_rescores_says_which_must_be_confirmed(
    embedded: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    make("olga@lab.example", "organiser", capsys)
    named = scored_challenge(embedded, is_being_rescored=True)
    assert admin("rescores", "scored", "--organiser", "olga@lab.example") == 0
    assert re.search(r" ready +version", capsys.readouterr().out)
    changed = {"competition": "comp3", "evaluated": 1, "published": 1, "scores_changed": 1, "ranks_changed": 0}
    with embedded.writing() as session:
        rescore = session.get_one(Rescore, uuid.UUID(named["RESCORE"]))
        rescore.report = {
            **{"images": {"before": 2, "after": 2, "differ": False}, "scored": 1, "lost": 1, "lost_published": 1},
            **{"competitions": [changed], "changes": [], "failures": []},
        }
    assert admin("rescores", "scored", "--organiser", "olga@lab.example") == 0
    assert re.search(r" attention +version", capsys.readouterr().out)
    assert report_when_ready(embedded, uuid.UUID(named["RESCORE"]), "olga@lab.example") == 0  # of `rescore --wait`
    said = capsys.readouterr().out
    assert "NEEDS ATTENTION: 1 published submission would lose results" in said
    assert "; 1 score and 0 ranks change" in said
    assert "--organiser olga@lab.example --confirm scored" in said
    report_when_ready(embedded, uuid.UUID(named["RESCORE"]), "olga@lab.example", is_applied_next=True)
    assert "--organiser olga@lab.example --confirm scored" in capsys.readouterr().out  # of `rescore --apply`
    assert admin("apply-rescore", named["RESCORE"], "--organiser", "olga@lab.example") == 1


def test_ground_truth_is_corrected_with_its_upload(
    embedded: Database, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make("olga@lab.example", "organiser", capsys)
    scored_challenge(embedded, is_being_rescored=False)
    GroundTruthDirectory(settings).private_key()
    given = ["import-truth", "scored", str(write_tree(tmp_path)), "--organiser", "olga@lab.example"]
    assert admin(*given, "--reason", "Ten boxes") == 0
    assert re.fullmatch(r"re-score [0-9a-f-]{36}\n", capsys.readouterr().out)
    assert admin("rescores", "scored", "--organiser", "olga@lab.example") == 0
    assert re.search(r"running +version \d+: Ten boxes", capsys.readouterr().out)
    assert admin(*given, "--reason", "Ten more") == 1
    assert "Apply or discard it first" in capsys.readouterr().err
    assert admin("log", "--challenge", "scored") == 0
    assert "started a re-score with version" in capsys.readouterr().out


def test_ground_truth_of_an_imported_challenge_waits_for_a_rescore(
    embedded: Database, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make("olga@lab.example", "organiser", capsys)
    scored_challenge(embedded, is_being_rescored=False)
    with embedded.writing() as session:
        session.scalars(select(Challenge)).one().imported_at = now()
        session.scalars(select(ChallengePhase)).one().current_scoring_id = None
    GroundTruthDirectory(settings).private_key()
    given = ["import-truth", "scored", str(write_tree(tmp_path)), "--organiser", "olga@lab.example", "--confirm"]
    with ThreadPoolExecutor(1) as pool:
        command = pool.submit(admin, *given)
        while not command.done():
            import_next(embedded, settings)
    assert command.result() == 0
    said = capsys.readouterr().out
    number = said.split()[1]  # of the version
    command = f"vocboard admin rescore scored --ground-truth-version {number} --reason REASON --organiser EMAIL"
    assert f"no version is current; score with the new one: {command}\n" in said


def test_rules_are_changed(embedded: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make("olga@lab.example", "organiser", capsys)
    with embedded.writing() as session:
        olga = administration.get_user(session, "olga@lab.example")
        make_challenge(session, organiser=olga, slug="own", edition="", edition_file=own_rules.EDITION_FILE)
    given = ["--reason", "As in the text", "--organiser", "olga@lab.example"]
    for content, code in ((own_rules.EDITION_FILE, 1), (own_rules.CHANGED_FILE, 0)):
        (tmp_path / "rules.toml").write_text(content)
        assert admin("rescore", "own", "--edition-file", str(tmp_path / "rules.toml"), *given) == code
    said = capsys.readouterr()
    assert "nothing would change" in said.err
    assert "Overlap that is enough: at least 0.5 -> more than 0.9" in said.out
    assert admin("rescores", "own", "--organiser", "olga@lab.example") == 0
    assert "rules, version 2: As in the text" in capsys.readouterr().out
    assert admin("rescore", "own", "--edition-file", str(tmp_path / "none.toml"), *given) == 1
    assert "none.toml" in capsys.readouterr().err


def test_every_action_says_whether_it_changes_something(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        admin("no-such-action")
    _, _, choices = capsys.readouterr().err.partition("choose from")
    assert set(re.findall(r"[a-z-]+", choices)) == {
        *CHANGING_NOTHING,
        *TESTED_WITH_MODERATION,
        *TESTED_WITH_BACKUPS,
        *CHANGES,
    }


@pytest.fixture(scope="module")
def filled(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, tuple[Path, dict[str, str]]]:
    """Return databases with what operators change, and its names: without and with a re-score."""
    directory, found = tmp_path_factory.mktemp("filled"), {}
    for is_being_rescored in (False, True):
        file = shutil.copy(sqlite_template, directory / f"{is_being_rescored}.sqlite")
        with pytest.MonkeyPatch.context() as patch, closing(Database(f"sqlite:///{file}")) as database:
            patch.setenv("VOCBOARD_DATABASE_URL", f"sqlite:///{file}")
            with database.writing() as session:
                make_organiser(session, email="olga@lab.example")
                make_user(session, email="new@lab.example").email_confirmed_at = None
                make_user(session, email="waiting@lab.example").approved_at = None
                make_user(session, email="disabled@lab.example").disabled_at = now()
                ada = make_user(session, email="ada@lab.example")
                session.add(SecondFactor(user_id=ada.id, sealed_key=b"", confirmed_at=now(), recovery_hashes=[]))
                _add_failures(session)
                session.add(LinkedIdentity(user_id=ada.id, issuer="https://orcid.org", subject="0000-0002-1825-0097"))
            by_olga = ["--organiser", "olga@lab.example"]
            assert admin("create-challenge", "ready", *by_olga, "--edition", "VOC2007", "--title", "VOC") == 0
            assert admin("add-phase", "ready", "first", "--title", "First", *by_olga) == 0
            assert admin("admit", "ready", "known@lab.example", *by_olga) == 0
            assert admin("grant-quota", "ready", "known@lab.example", "2", "--until", "2100-01-01", *by_olga) == 0
            named = scored_challenge(database, is_being_rescored=is_being_rescored)
            found[is_being_rescored] = Path(file), {"QUOTA": extra_quota_id(database), **named}
    return found


@pytest.mark.parametrize("action", CHANGES)
def test_what_operators_change_is_logged_as_theirs(
    action: str,
    filled: dict[bool, tuple[Path, dict[str, str]]],
    settings: Settings,
    embedded: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rescores, "MAX_WAIT", timedelta(0))  # no worker runs here
    file, named = filled[action.endswith("-rescore")]
    shutil.copy(file, str(embedded.engine.url.database))
    GroundTruthDirectory(settings).private_key()
    (tmp_path / "TREE").mkdir()
    monkeypatch.chdir(tmp_path)
    arguments = [
        re.sub("QUOTA|WARNED|CURRENT|RESCORE|FAILED", lambda found: named[found[0]], one) for one in CHANGES[action]
    ]
    known = {event.id for event in events(embedded)}
    assert admin(action, *arguments) == 0
    added = [event for event in events(embedded) if event.id not in known]
    assert added, "nothing is logged"
    for event in added:
        assert event.actor_id is None
        assert event.operator == f"{pwd.getpwuid(os.getuid()).pw_name}@{socket.gethostname()}, command line"


def _add_failures(session: Session) -> None:
    outbox.put(session, to="gone@lab.example", template="approved", site="https://voc.example")
    mail = session.scalars(select(Job)).one()
    mail.failure, mail.finished_at = outbox.MailFailure.REJECTED, now()
    session.add(Job(kind=Kind.DIAGNOSIS, key=uuid.uuid4(), priority=1, failure="error", finished_at=now()))


def test_operators_see_what_has_failed_and_what_is_stored(
    embedded: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    with embedded.writing() as session:
        _add_failures(session)
        scored = make_challenge(session, slug="stored")
        make_scored(session, scored, make_user(session), "Method", archive_bytes=77)
        make_truth(session, scored, current=False).state = TruthState.FAILED  # nothing of it is stored

    def said(*arguments: str) -> str:
        assert admin(*arguments) == 0
        return capsys.readouterr().out

    assert "recipient=gone@lab.example  subject=Your account is approved  failure=rejected" in said("undelivered-mail")
    assert [one["kind"] for one in json.loads(said("status", "--json"))["failed"]] == ["diagnosis"]
    assert "challenge=stored  archives=1  archive_bytes=77  columns=0  ground_truth=1" in said("show-storage")
    message_id = json.loads(said("undelivered-mail", "--json"))[0]["id"]
    assert said("retry-mail", message_id) == "1 to be sent again\n"
    assert (said("retry-mail"), said("undelivered-mail")) == ("0 to be sent again\n", "")
    assert admin("requeue", "diagnosis", "no-such-failure") == 1
    assert said("list-users", "--search", "PERSON").count("\n") == len(json.loads(said("list-users", "--json")))
    assert said("list-users", "--search", "nobody") == ""


def extra_quota_id(database: Database) -> str:
    with database.reading() as session:
        return str(session.scalars(select(ExtraQuota.id)).one())


def test_phases_are_changed_and_removed(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    make("olga@lab.example", "organiser", capsys)
    by_olga = ["--organiser", "olga@lab.example"]
    assert admin("create-challenge", "voc", *by_olga, "--edition", "VOC2007", "--title", "VOC") == 0
    test = ["voc", "test", *by_olga]
    assert admin("add-phase", *test, "--title", "Test", "--closes-at", "2100-01-01", "--quota", "3") == 0
    assert admin("change-phase", *test, "--closes-at", "none", "--detail", "mean", "--competition", "comp3") == 0
    assert admin("change-phase", "voc", "main", *by_olga, "--opens-at", "2020-01-01", "--title", "Validation") == 0
    with embedded.reading() as session:
        further, main = phases_of(get_organised(session, "voc", administration.get_user(session, "olga@lab.example")))
    assert (main.title, str(main.rules.opens_at)) == ("Validation", "2020-01-01 00:00:00+00:00")
    assert (further.title, further.rules.closes_at, further.rules.quota_count) == ("Test", None, 3)
    assert (further.rules.detail, further.competitions) == (Detail.MEAN, ("comp3",))
    assert admin("change-phase", *test, "--quota", "0") == 1
    assert "quota_count: Choose between" in capsys.readouterr().err
    assert admin("change-phase", *test, "--closes-at", "2100-01-01") == 0
    assert capsys.readouterr().out == ""
    assert admin("change-phase", "voc", "main", *by_olga, "--closes-at", "2030-01-01") == 0
    assert admin("change-phase", *test, "--opens-at", "2030-01-02") == 0
    assert capsys.readouterr().out == ""
    assert admin("change-phase", "voc", "main", *by_olga, "--closes-at", "2030-01-10") == 0
    assert capsys.readouterr().out.startswith("With the deadline, ")
    assert admin("change-phase", "voc", "main", *by_olga, "--closes-at", "2020-01-02") == 0
    for changing in (("change-phase", "voc", "main", "--detail"), ("set-detail", "voc")):
        level = "mean" if changing[0] == "set-detail" else "classes"
        assert admin(*changing, level, *by_olga) == 0
        assert "Frozen leaderboards keep the detail level" in capsys.readouterr().out
    assert admin("remove-phase", "voc", "tset", *by_olga) == 1
    assert "no such phase" in capsys.readouterr().err
    assert admin("remove-phase", "voc", "main", *by_olga) == 1
    assert admin("remove-phase", *test) == 0


def test_admission_and_extra_quota_end(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    make("olga@lab.example", "organiser", capsys)
    by_olga = ["--organiser", "olga@lab.example"]
    assert admin("create-challenge", "voc", *by_olga, "--edition", "VOC2007", "--title", "VOC") == 0
    assert admin("admit", "voc", "Ada@lab.example", *by_olga) == 0
    assert admin("grant-quota", "voc", "ada@lab.example", "2", "--until", "2100-01-01", *by_olga) == 0
    identifier = extra_quota_id(embedded)
    assert admin("change-quota", "voc", identifier, "--count", "5", "--reason", "Our disk was full", *by_olga) == 0
    assert admin("change-quota", "voc", identifier, "--until", "2020-01-01", *by_olga) == 1
    assert "until: Choose a date in the future." in capsys.readouterr().err
    assert admin("list-phase-people", "voc", *by_olga) == 0
    listed = capsys.readouterr().out
    assert re.search(r"main +ada@lab\.example +admitted", listed)
    assert re.search(rf"main +ada@lab\.example +5 extra +2100-01-01T00:00Z +{identifier} +Our disk was full", listed)
    for _ in range(2):
        ended = [
            admin("end-admission", "voc", "ada@lab.example", *by_olga),
            admin("end-quota", "voc", identifier, *by_olga),
        ]
    assert ended == [1, 1]  # the second time
    assert "is not admitted" in capsys.readouterr().err
    assert admin("list-phase-people", "voc", *by_olga) == 0
    assert "ada@lab.example" not in capsys.readouterr().out


def scored_challenge(database: Database, *, is_being_rescored: bool) -> dict[str, str]:
    """Make a challenge with a current version of ground truth, one that needs confirmation, and perhaps a re-score."""
    with database.writing() as session:
        olga = administration.get_user(session, "olga@lab.example")
        challenge = make_challenge(session, organiser=olga, slug="scored")
        current = main_truth(session, challenge)
        warned = make_truth(session, challenge, current=False)
        warned.warnings = [Problem("unknown_class", Severity.WARNING, "'Plum' is not a class").as_json()]
        failed = make_scored(session, challenge, make_user(session), "Method")
        failed.state = State.FAILED
        named = {"WARNED": str(warned.number), "CURRENT": str(current.number), "RESCORE": "", "FAILED": str(failed.id)}
        if is_being_rescored:
            rescore = Rescore(
                challenge_id=challenge.id,
                ground_truth_version_id=current.id,
                reason="New evaluator",
                state=RescoreState.READY,
            )
            session.add(rescore)
            session.flush()
            named["RESCORE"] = str(rescore.id)
        return named


def test_a_token_made_by_the_operator_names_its_owner(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    make("ada@lab.example", "participant", capsys)
    assert admin("create-token", "ada@lab.example") == 0
    with embedded.reading() as session:
        owner = administration.get_user(session, "ada@lab.example")
    [event] = [event for event in events(embedded) if event.action == "token.create"]
    assert event.details["on_behalf_of"] == str(owner.id)


def events(database: Database) -> Sequence[AuditEvent]:
    with database.reading() as session:
        return session.scalars(select(AuditEvent)).all()


@pytest.mark.usefixtures("embedded")
@pytest.mark.parametrize("action", ["prune", "rotate-worker-key"])
def test_files_of_the_server_that_are_not_here_are_named(
    action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ARCHIVES", "TRUTH"):
        monkeypatch.setenv(f"VOCBOARD_{name}_DIRECTORY", str(tmp_path / "no" / "mount"))
    (tmp_path / "no").touch()
    assert admin(action) == 1
    said = capsys.readouterr().err
    assert f"vocboard admin: {tmp_path / 'no' / 'mount'}" in said
    assert "run in the service web" in said


def test_prune_removes_what_nothing_needs_and_says_so(
    settings: Settings, embedded: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ArchiveStore(settings.archives)
    store.set_up()
    with store.receive(limit=10) as incoming:
        incoming.write(b"unknown")
        sha256 = incoming.keep()
    assert admin("prune") == 0
    assert "1 archive without a submission set aside" in capsys.readouterr().out
    assert not stored_path(store, sha256).exists()
