"""A challenge exported from one server and imported by another: equal leaderboards, and no trust in the archive."""

import contextlib
import csv
import io
import json
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema_rs
import pyarrow.parquet as pq
import pytest
from sqlalchemy import select, update

from tests.support.archives import Change, changed, edited, in_first, stored_path
from tests.support.backend import Backend, make_archive, make_columns
from tests.support.challenge_pages import PAGE
from tests.support.jobs import evaluate_next
from tests.support.other_server import Server, write_export
from tests.support.phases import show_board
from tests.support.run_files import made_once
from tests.support.services import EMBEDDED
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge, Visibility
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, InvalidArchiveError
from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.export import as_csv, as_latex
from vocboard.app.organising import archiving, moderation
from vocboard.app.organising import audit_log as log
from vocboard.app.organising.audit_log import Filters
from vocboard.app.participating import publishing
from vocboard.app.submissions.downloading import ArchiveGoneError, download
from vocboard.app.submissions.models import State, Submission
from vocboard.app.submissions.pruning import prune
from vocboard.app.transfer import reading, records
from vocboard.app.transfer.exporting import begin_export
from vocboard.app.transfer.json_schema import export_json_schema


@pytest.fixture
def challenge(backend: Backend) -> Challenge:
    """Give a challenge with five evaluated submissions of three people: three published, one disqualified."""
    organiser = backend.user(role=Role.ORGANISER, name="Olga")
    made: Challenge = backend.challenge(organiser=organiser, slug="spring", title="Spring")
    people = [backend.user(name=name) for name in ("Ada", "=Bob", "Cleo")]
    confidences = [(0.9, 0.1, 0.8), (0.1, 0.9, 0.8), (0.2, 0.9, 0.3), (0.9, 0.8, 0.7), (0.5, 0.6, 0.7)]
    ids = [
        backend.submit(
            people[n % 3],
            made,
            archive=make_archive(confidences[n]),
            columns=make_columns(confidences[n]),
            method_name=f"Method {n}",
        )
        for n in range(5)
    ]
    while evaluate_next(backend.database, backend.store, backend.settings):
        pass
    with backend.database.writing() as session:
        for number in (0, 1, 2, 3):
            publishing.publish(session, submission_id=ids[number], user=people[number % 3])
        moderation.disqualify(
            session, submission_id=ids[3], user=organiser, reason="Trained on the test set.", site="https://x"
        )
    made.organiser = organiser  # type: ignore[attr-defined]
    return made


@pytest.fixture
def exported(backend: Backend, challenge: Challenge, tmp_path: Path) -> Path:
    organiser = challenge.organiser  # type: ignore[attr-defined]
    return write_export(backend.database, backend.store, tmp_path / "spring.tar", organiser)


@pytest.fixture
def exported_once(request: pytest.FixtureRequest, set_up: str, tmp_path: Path) -> Path:
    """Give a copy of the export, which is made once."""

    def make(path: Path) -> None:
        shutil.move(request.getfixturevalue("exported"), path)

    return Path(shutil.copy(made_once(f"spring-{set_up}.tar", make), tmp_path / "copy.tar"))


# What is refused does not depend on the set-up of the server that exported it.
ON_ONE_SET_UP = pytest.mark.parametrize("set_up", [EMBEDDED], indirect=True)


def board_of(database: Database, slug: str = "spring") -> Board:
    with database.reading() as session:
        challenge = session.scalars(select(Challenge).where(Challenge.slug == slug)).one()
        return show_board(session, challenge, "comp1")


def test_an_exported_and_imported_challenge_has_equal_leaderboards(
    backend: Backend, exported: Path, other: Server
) -> None:
    imported = other.take(exported)
    before, after = board_of(backend.database), board_of(other.database)
    assert len(before.rows) == 3
    unmarked = replace(after, imported=None)
    assert unmarked == before  # with ids, unrounded ranks and times
    assert as_csv(unmarked) == as_csv(before)
    assert as_latex(unmarked) == as_latex(before)
    with tarfile.open(exported) as tar:
        assert tar.extractfile("leaderboards/comp1.csv").read().decode() == as_csv(unmarked)  # type: ignore[union-attr]
    assert imported.imported_at is not None
    said = f"imported from an archive on {imported.imported_at:%Y-%m-%d} by Other; not scored here"
    assert [row["imported"] for row in csv.DictReader(io.StringIO(as_csv(after)))] == [said] * 3
    assert f"% Scores: {said}.\n" in as_latex(after)
    assert imported.visibility is Visibility.DRAFT
    assert imported.archived_at is not None


@pytest.mark.full
def test_states_archives_and_log_come_along(backend: Backend, exported: Path, other: Server) -> None:
    imported = other.take(exported)
    with other.database.reading() as session:
        found = {one.method.name: one for one in _submissions(session, imported)}
        assert [found[f"Method {n}"].state for n in range(5)] == [*[State.SCORED] * 3, State.DISQUALIFIED, State.SCORED]
        assert found["Method 3"].moderation_reason == "Trained on the test set."
        events = log.page_of_log(session, challenge_id=imported.id, filters=Filters(action="challenge.imported_event"))
    assert any("Olga disqualified “Method 3” of Ada" in event.text for event in events.items)
    with other.store.open(found["Method 0"].archive_sha256) as file:
        assert file.read() == make_archive((0.9, 0.1, 0.8))


@ON_ONE_SET_UP
def test_what_the_page_says_comes_along(exported_once: Path, other: Server) -> None:
    def as_format_5(header: dict[str, Any]) -> None:
        rules = {name: value for name, value in header["rules"].items() if name not in PAGE}
        header |= {"format": 5, "rules": rules}

    with_page = changed("challenge.json", lambda header: header["rules"].update(PAGE))
    imported = other.take(edited(exported_once, with_page))
    assert {name: getattr(imported, name) for name in PAGE} == PAGE
    again = write_export(other.database, other.store, exported_once.with_name("again.tar"), other.organiser)
    imported_again = other.take(again, slug="again")
    assert {name: getattr(imported_again, name) for name in PAGE} == PAGE
    earlier = other.take(edited(exported_once, changed("challenge.json", as_format_5)), slug="earlier")
    assert {getattr(earlier, name) or "" for name in PAGE if name != "data_links"} == {""}
    assert earlier.data_links == []


def as_format_3(files: dict[str, bytes]) -> None:
    """Write an export as versions did that did not record when a submission was disqualified."""
    changed("challenge.json", lambda header: header.update(format=3))(files)
    changed("submissions.jsonl", lambda submission: submission.pop("disqualified_at"))(files)


@ON_ONE_SET_UP
def test_a_disqualified_submission_comes_along_from_an_earlier_version(exported_once: Path, other: Server) -> None:
    imported = other.take(edited(exported_once, as_format_3))
    with other.database.reading() as session:
        found = {one.method.name: one for one in _submissions(session, imported)}
    assert found["Method 3"].state is State.DISQUALIFIED
    assert found["Method 3"].disqualified_at is not None
    assert all(one.disqualified_at is None for name, one in found.items() if name != "Method 3")


def _submissions(session: Any, challenge: Challenge) -> list[Submission]:
    query = select(Submission).join(Submission.method).where(Submission.challenge_id == challenge.id)
    found = session.scalars(query).all()
    for one in found:
        session.refresh(one, ["method", "user"])
    return list(found)


def test_nobody_can_sign_in_as_an_imported_person(backend: Backend, exported: Path, other: Server) -> None:
    imported = other.take(exported)
    with other.database.reading() as session:
        people = {one.user for one in _submissions(session, imported)}
    assert {person.name for person in people} == {"Ada", "=Bob", "Cleo"}
    for person in people:
        assert person.disabled_at is not None
        assert person.email.endswith("@imported.invalid")


def test_tables_have_every_score(exported: Path) -> None:
    with tarfile.open(exported) as tar:
        names = tar.getnames()
        assert names[0] == "challenge.json"
        rows = list(csv.DictReader(io.TextIOWrapper(tar.extractfile("scores.csv"), "utf-8")))  # type: ignore[arg-type]
        table = pq.read_table(io.BytesIO(tar.extractfile("scores.parquet").read()))  # type: ignore[union-attr]
        lines = [json.loads(line) for line in tar.extractfile("submissions.jsonl")]  # type: ignore[union-attr]
    assert (
        len(rows)
        == table.num_rows
        == sum(
            1 + len(measure["per_class"])
            for line in lines
            for result in line["evaluation"]["results"]
            for measure in result["measures"]
        )
    )
    assert {row["person"] for row in rows} == {"Ada", "'=Bob", "Cleo"}
    means = {row["method"]: float(row["score"]) for row in rows if not row["class"] and row["metric"]}
    assert len(means) == 5


def test_the_json_schema_describes_every_file(exported_once: Path) -> None:
    schema = export_json_schema()
    with tarfile.open(exported_once) as tar:
        found = {name: tar.extractfile(name).read() for name in tar.getnames() if ".json" in name}  # type: ignore[union-attr]
    del found["image-sets.json"]  # what `--image-sets` takes
    archive: dict[str, Any] = {"challenge.json": json.loads(found.pop("challenge.json"))}
    archive |= {name: [json.loads(line) for line in content.splitlines()] for name, content in found.items()}
    assert archive.keys() == schema["properties"].keys()
    validator = jsonschema_rs.validator_for(schema)
    assert [str(error) for error in validator.iter_errors(archive)] == []
    archive["submissions.jsonl"][0]["state"] = "imagined"
    assert not validator.is_valid(archive)


def test_lost_and_damaged_archives_do_not_keep_the_rest_from_being_exported(
    backend: Backend, challenge: Challenge, other: Server, tmp_path: Path
) -> None:
    with backend.database.reading() as session:
        archives = {one.method.name: one.archive_sha256 for one in _submissions(session, challenge)}
    backend.store.remove(archives["Method 1"])
    stored_path(backend.store, archives["Method 2"]).write_bytes(b"damaged")
    organiser = challenge.organiser  # type: ignore[attr-defined]
    path = write_export(backend.database, backend.store, tmp_path / "lost.tar", organiser)
    with tarfile.open(path) as tar:
        exported = {name.removeprefix("archives/") for name in tar.getnames() if name.startswith("archives/")}
    assert exported == {archives[name] for name in ("Method 0", "Method 3", "Method 4")}
    other.take(path)
    assert board_of(other.database).rows == board_of(backend.database).rows


@ON_ONE_SET_UP
def test_no_name_of_an_uploaded_file_keeps_a_challenge_from_being_exported(
    backend: Backend, challenge: Challenge, other: Server, tmp_path: Path
) -> None:
    name = "__MACOSX/\u3164e" + 9 * "\u0301"  # which forms refuse in texts
    warning = {"code": "ignored_files", "severity": "warning", "message": "Ignored.", "file": name, "line": None}
    with backend.database.writing() as session:
        session.execute(update(Submission).values(archive_name=name, warnings=[warning]))
    organiser = challenge.organiser  # type: ignore[attr-defined]
    imported = other.take(write_export(backend.database, backend.store, tmp_path / "spring.tar", organiser))
    with other.database.reading() as session:
        found = {(one.archive_name, one.warnings[0]["file"]) for one in _submissions(session, imported)}
    assert found == {2 * ("__MACOSX/e" + 4 * "\u0301",)}


@ON_ONE_SET_UP
def test_an_export_that_is_not_sent_leaves_no_files(
    backend: Backend, challenge: Challenge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    organiser = challenge.organiser  # type: ignore[attr-defined]
    for ending in ("dropped", "dropped before the first chunk", "closed early", "discarded"):
        export = begin_export(backend.database, backend.store, slug="spring", user=organiser)
        assert list(directory.iterdir())
        match ending:
            case "dropped":
                del export
            case "dropped before the first chunk":  # the client has gone
                stream = export.stream()
                del export
                assert list(directory.iterdir())
                del stream
            case "closed early":
                stream = export.stream()
                next(stream)
                stream.close()  # type: ignore[attr-defined]
            case "discarded":
                export.discard()
                export.discard()
        assert list(directory.iterdir()) == [], ending


def test_a_name_that_is_taken_needs_another(exported: Path, other: Server) -> None:
    other.take(exported)
    with pytest.raises(ConflictError, match="taken"):
        other.take(exported)
    assert other.take(exported, slug="autumn").slug == "autumn"


def while_submissions_are_read(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Do something once, when an import has begun to add submissions."""
    lines_of, waiting = reading.lines_of, [action]

    def read(path: Path, name: str, kind: Any) -> Iterator[Any]:
        for record in lines_of(path, name, kind):
            yield record
            if name == records.SUBMISSIONS and waiting:
                waiting.pop()()

    monkeypatch.setattr(reading, "lines_of", read)


@ON_ONE_SET_UP
def test_on_sqlite_others_can_write_while_an_import_reads_submissions(
    exported_once: Path, other: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write() -> None:
        with contextlib.closing(sqlite3.connect(str(other.database.engine.url.database), timeout=0)) as connection:
            connection.execute("UPDATE users SET name = 'Changed meanwhile'")
            connection.commit()

    while_submissions_are_read(monkeypatch, write)
    other.take(exported_once)
    with other.database.reading() as session:
        assert session.get_one(User, other.organiser.id).name == "Changed meanwhile"
    assert len(board_of(other.database).rows) == 3


@ON_ONE_SET_UP
def test_of_two_imports_at_once_one_is_complete_and_the_other_leaves_nothing(
    exported_once: Path, other: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    while_submissions_are_read(monkeypatch, lambda: other.take(exported_once))
    with pytest.raises(ConflictError, match="Import it again"):
        other.take(exported_once, slug="autumn")
    with other.database.reading() as session:
        assert session.scalars(select(Challenge.slug)).all() == ["spring"]
        assert len(session.scalars(select(Submission)).all()) == 5
    assert len(board_of(other.database).rows) == 3
    assert other.take(exported_once, slug="autumn").slug == "autumn"


# Hostile archives

NOBODY = "00000000-0000-4000-8000-000000000000"


def in_first_submission(**values: Any) -> Change:
    return in_first("submissions.jsonl", lambda record: record.update(values))


def in_first_score(value: Any) -> Change:
    return in_first(
        "submissions.jsonl", lambda record: record["evaluation"]["results"][0]["measures"][0].update(mean=value)
    )


def numbers_that_are_none(record: dict[str, Any]) -> None:
    """In counts, a curve, and an unknown metric."""
    result = record["evaluation"]["results"][0]
    name, counts = next(iter(result["details"].items()))
    result["details"][name] = {**counts, "positives": 0.5, "results": True, "difficult": -1, "final_recall": "1"}
    next(iter(result["curves"].values()))["values"] = [0.5, 0.5]
    result["measures"][0] |= {"metric": "luck", "mean_over": 1e-320}
    record["flickr_count"] = 2**31


@ON_ONE_SET_UP
def test_numbers_are_checked_and_all_that_are_wrong_are_listed_with_their_places(
    exported_once: Path, other: Server
) -> None:
    with pytest.raises(InvalidArchiveError) as caught:
        other.take(edited(exported_once, in_first("submissions.jsonl", numbers_that_are_none)))
    assert {(problem.file, problem.line) for problem in caught.value.problems} == {("submissions.jsonl", 1)}
    messages = [problem.message.partition(":")[0] for problem in caught.value.problems]
    for place in ("positives", "results", "difficult", "final_recall", "metric", "mean_over", "flickr_count"):
        assert any(message.endswith(place) for message in messages), (place, messages)
    assert any(".curves." in message for message in messages)


def without(prefix: str) -> Change:
    def change(files: dict[str, bytes]) -> None:
        for name in [name for name in files if name.startswith(prefix)]:
            del files[name]

    return change


def replaced(name: str, content: bytes) -> Change:
    return lambda files: files.update({name: content})


def in_two_teams(header: dict[str, Any]) -> None:
    header["teams"] = [{"id": NOBODY[:-1] + digit, "name": digit, "members": [NOBODY]} for digit in "12"]


def with_another_archive(files: dict[str, bytes]) -> None:
    name = next(name for name in files if name.startswith("archives/"))
    files[name] = bytes(len(files[name]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (in_first_submission(method="R\u202eNN"), "method: Value error, Remove the invisible character"),
        (in_first_submission(method="x" * 101), "method: String should have at most 100"),
        (in_first_submission(person=NOBODY), "no person has this ID"),
        (in_first_submission(people=[NOBODY]), "people: no person has one of these IDs"),
        (in_first_submission(team=NOBODY), "team: no team has this ID"),
        (changed("challenge.json", in_two_teams), "teams: a person is in two"),
        (in_first_submission(entries=[{"competition": "comp9", "classes": []}]), "the challenge has no comp9"),
        (in_first_submission(entries=[{"competition": "comp1", "classes": ["unicorn"]}]), "no such classes"),
        (in_first_submission(evaluation=None), "a scored submission must have one"),
        (in_first_submission(state="withdrawn"), "withdrawn is not published"),
        (in_first_submission(archive_sha256="../../../etc/passwd"), "archive_sha256: String should match"),
        (in_first_submission(created_at="2026-01-01T00:00:00"), "created_at"),
        (in_first_submission(created_at="1999-12-31T00:00:00Z"), "Give a time between 2000 and 2200"),
        (in_first_submission(admin=True), "admin: Extra inputs"),
        (in_first_score(1e300), "mean: Input should be less than or equal to 1"),
        (in_first_score(float("nan")), "mean"),
        (without("challenge.json"), "must begin with challenge.json"),
        (replaced("challenge.json", b"[" * 100_000), "challenge.json"),
        (replaced("submissions.jsonl", b"{"), "Invalid JSON"),
        (replaced("people.jsonl", b""), "no person has this ID"),
        (without("archives/"), "archive is missing, or has the wrong size"),
        (with_another_archive, "another SHA-256"),
    ],
)
@ON_ONE_SET_UP
def test_what_does_not_fit_together_is_refused_with_its_place(
    exported_once: Path, other: Server, change: Change, message: str
) -> None:
    other.refuse(edited(exported_once, change), message)


@ON_ONE_SET_UP
def test_naming_the_hash_of_an_archive_that_others_uploaded_gives_no_right_to_it(
    exported_once: Path, other: Server, tmp_path: Path
) -> None:
    def only_name_archives(files: dict[str, bytes]) -> None:
        without("archives/")(files)
        changed("submissions.jsonl", lambda record: record.update(has_archive=False))(files)

    owned = other.take(exported_once)
    named = other.take(edited(exported_once, only_name_archives), slug="named")
    with other.database.reading() as session:
        own, only_named = _submissions(session, owned), _submissions(session, named)
    assert {one.archive_sha256 for one in own} == {one.archive_sha256 for one in only_named}
    given: Any = {"user": other.organiser, "withdrawn_kept_for": timedelta()}
    for one in own:
        assert download(other.database, other.store, submission_id=one.id, **given).size
    for one in only_named:
        with pytest.raises(ArchiveGoneError, match="was not imported"):
            download(other.database, other.store, submission_id=one.id, **given)
    again = write_export(other.database, other.store, tmp_path / "again.tar", other.organiser, slug="named")
    with tarfile.open(again) as tar:
        assert not [name for name in tar.getnames() if name.startswith("archives/")]
    # Nor does it keep an archive that its owner has withdrawn.
    with other.database.writing() as session:
        of_owner = update(Submission).where(Submission.challenge_id == owned.id)
        session.execute(of_owner.values(state=State.WITHDRAWN, finished_at=now() - timedelta(days=2)))
    pruned = prune(other.database, other.store, withdrawn_kept_for=timedelta(days=1))
    assert pruned.withdrawn == len({one.archive_sha256 for one in own})


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, other: Server, kind: bytes) -> None:
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo("challenge.json")
        member.type, member.linkname = kind, "/etc/passwd"
        tar.addfile(member)
    with pytest.raises(InvalidArchiveError, match="rejected"):
        other.take(path)


@pytest.mark.parametrize("content", [b"", b"not a tar", b"\0" * 5000, b"\x1f\x8b" + bytes(600)])
def test_other_files_are_refused(tmp_path: Path, other: Server, content: bytes) -> None:
    path = tmp_path / "other.bin"
    path.write_bytes(content)
    with pytest.raises(InvalidArchiveError):
        other.take(path)


def test_every_cut_is_refused(exported: Path, other: Server, tmp_path: Path) -> None:
    content = exported.read_bytes()
    path = tmp_path / "cut.tar"
    for length in range(0, len(content) - 1024, max(1, len(content) // 40)):
        path.write_bytes(content[:length])
        with pytest.raises(InvalidArchiveError):
            other.take(path)


# Archiving and deleting


def test_an_archived_challenge_takes_submissions_once_it_is_reopened(backend: Backend, challenge: Challenge) -> None:
    organiser = challenge.organiser  # type: ignore[attr-defined]

    def act(action: Callable[..., None]) -> None:
        with backend.database.writing() as session:
            found = challenges.get_organised(session, "spring", organiser)
            action(session, challenge=found, user=organiser)

    act(archiving.archive)
    owner = backend.user()
    with pytest.raises(ConflictError, match="archived"):
        backend.submit(owner, challenge)
    act(archiving.reopen)
    backend.submit(owner, challenge, archive=b"another")
    with pytest.raises(ConflictError, match="still being evaluated"):
        act(archiving.archive)


@pytest.mark.full
def test_only_empty_drafts_are_deleted(backend: Backend, challenge: Challenge) -> None:
    organiser = challenge.organiser  # type: ignore[attr-defined]

    def delete(slug: str, user: User = organiser) -> None:
        with backend.database.writing() as session:
            found = challenges.get_organised(session, slug, user)
            archiving.delete_draft(session, challenge=found, user=user)

    with pytest.raises(ConflictError, match="Only drafts"):
        delete("spring")
    with backend.database.writing() as session:
        session.get_one(Challenge, challenge.id).visibility = Visibility.DRAFT
    with pytest.raises(ConflictError, match="has submissions"):
        delete("spring")
    backend.challenge(organiser=organiser, slug="empty", visibility=Visibility.DRAFT)
    delete("empty")
    rehearsed = backend.challenge(organiser=organiser, slug="rehearsed", visibility=Visibility.DRAFT)
    backend.submit(organiser, rehearsed, is_rehearsal=True)
    with pytest.raises(ConflictError, match="still being evaluated"):
        delete("rehearsed")
    evaluate_next(backend.database, backend.store, backend.settings)
    delete("rehearsed")
    with backend.database.reading() as session:
        assert session.scalars(select(Challenge.slug)).all() == ["spring"]
        texts = [event.text for event in log.page_of_log(session, challenge_id=None, filters=Filters()).items]
    assert any("deleted the draft" in text for text in texts)
