"""Ground truth from an organiser's upload to what submissions are scored against."""

import contextlib
import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import time
import uuid
from pathlib import Path

import pytest
from nacl.public import PrivateKey
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.jobs import import_next, let_leases_end, sweep
from tests.support.phases import main_truth, phase_of
from tests.support.scored import make_published
from tests.support.trees import write_tree
from vocboard.app.challenges import ground_truth as versions
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges import service
from vocboard.app.challenges.ground_truth import (
    add_ground_truth_version,
    current_image_sets,
    needs_confirmation,
    pack_image_sets,
)
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, TruthState
from vocboard.app.challenges.phases import PhaseState, current_phase
from vocboard.app.database import Database, now
from vocboard.app.evaluations import ground_truth_queue
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.settings import Settings
from vocboard.app.storage.ground_truth_inbox import UNANNOUNCED_FOR, GroundTruthInbox
from vocboard.app.storage.stores import ground_truth_inbox
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.ground_truth import GroundTruth, reader
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.new_edition import write_sample_tree
from vocboard.worker import ground_truth_files, work
from vocboard.worker.ground_truth_directory import GroundTruthDirectory, LostKeyError

CHUNK = 1000


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(data_directory=tmp_path / "data", database_url=database_url)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path)


def packed(tree: Path) -> Path:
    archive = tree.parent / "tree.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(tree, tree.name)
    return archive


def challenge_to_import(database: Database, **given: object) -> Challenge:
    with database.writing() as session:
        return make_challenge(session, organiser=make_organiser(session), **{"ready": False, **given})


def sealed_path(settings: Settings, version_id: uuid.UUID) -> Path:
    return settings.ground_truth_inbox / f"{version_id}.sealed"


def upload(database: Database, settings: Settings, challenge: Challenge, archive: Path) -> uuid.UUID:
    """What the web process does."""
    GroundTruthDirectory(settings).private_key()  # a worker has started
    inbox, limit = ground_truth_inbox(settings), settings.ground_truth_limit_bytes
    with inbox.receive(challenge_id=challenge.id, limit=limit) as incoming:
        content = archive.read_bytes()
        for start in range(0, len(content), CHUNK):
            incoming.write(content[start : start + CHUNK])
        version_id = incoming.keep()
    with database.writing() as session:
        user = make_organiser(session)
        add_ground_truth_version(session, challenge=challenge, user=user, file_name=archive.name, version_id=version_id)
    return version_id


def version(database: Database, version_id: uuid.UUID) -> GroundTruthVersion:
    with database.reading() as session:
        return session.get_one(GroundTruthVersion, version_id)


def confirm(database: Database, version_id: uuid.UUID) -> None:
    with database.writing() as session:
        found = session.get_one(GroundTruthVersion, version_id)
        challenge = session.get_one(Challenge, found.challenge_id)
        versions.confirm(session, challenge=challenge, user=make_organiser(session), number=found.number)


def plain_files(settings: Settings) -> list[Path]:
    """Files of any kind in which an upload might be left."""
    return [
        path
        for directory in (settings.ground_truth_inbox, settings.truth / "scratch")
        for path in directory.rglob("*")
        if path.name != "worker.public-key"
    ]


def test_an_uploaded_tree_opens_the_challenge(database: Database, settings: Settings, tree: Path) -> None:
    challenge = challenge_to_import(database)
    version_id = upload(database, settings, challenge, packed(tree))
    assert import_next(database, settings)
    with database.reading() as session:
        found = service.get_visible(session, challenge.slug, None)
        assert current_phase(found, now()).state(now()) is PhaseState.NOT_READY  # most classes have no positives
    confirm(database, version_id)
    assert import_next(database, settings)
    with database.reading() as session:
        found = service.get_visible(session, challenge.slug, None)
        assert current_phase(found, now()).state(now()) is PhaseState.OPEN
        assert current_image_sets(session, phase_of(session, found)).sets[Task.DETECTION, "test"].images == (
            "one",
            "two",
        )
    imported = version(database, version_id)
    assert imported.state is TruthState.READY
    assert imported.sha256 is not None
    assert GroundTruth.load(ground_truth_files.path_of(settings, imported.sha256)).sha256 == imported.sha256
    assert imported.competitions == ["comp1", "comp2", "comp3", "comp4"]
    assert imported.summary["detection/test"]["classes"]["car"] == {
        "images": 2,
        "objects": 2,
        "difficult": 0,
        "truncated": 0,
    }
    assert imported.summary["detection/test"]["classes"]["Total"]["objects"] == 4
    assert [warning["code"] for warning in imported.warnings or ()] == ["class_without_positives"] * 2
    assert "missing" in imported.summary["segmentation/test"]
    assert plain_files(settings) == []
    assert not import_next(database, settings)


def test_results_of_another_server_are_diagnosed_with_this_challenges_own_ground_truth(
    database: Database, settings: Settings, tree: Path
) -> None:
    """Another imported challenge that says it was scored with the same hash gets nothing out of this server's copy."""
    challenge, claiming = (challenge_to_import(database, slug=slug, ready=True) for slug in ("spring", "claiming"))
    archive = packed(tree)
    sha256 = reader.import_ground_truth(archive, load("VOC2012")).truth.sha256
    with database.writing() as session:
        for each in (challenge, claiming):
            session.get_one(Challenge, each.id).imported_at = now()
            make_published(session, each, make_organiser(session), "Method", 0.5)
        session.execute(delete(Job).where(Job.kind == Kind.DIAGNOSIS))  # an import adds none
        session.execute(update(Evaluation).values(ground_truth_sha256=sha256))
    upload(database, settings, challenge, archive)
    assert import_next(database, settings)
    with database.reading() as session:
        is_job = (Job.key == Evaluation.id) & (Job.kind == Kind.DIAGNOSIS)
        queued = select(Submission.challenge_id).join(Evaluation, Evaluation.submission_id == Submission.id)
        assert session.scalars(queued.join(Job, is_job)).all() == [challenge.id]


def test_images_and_objects_of_the_other_sets_are_counted_too(
    database: Database, settings: Settings, tree: Path
) -> None:
    lists = tree / "ImageSets" / "Main"
    (lists / "trainval.txt").write_text("one\n")
    (lists / "val.txt").write_text("one\n")
    (lists / "seen.txt").write_text("two\n")  # no set of the documents' tables
    (lists / "train.txt").write_text("three\n")  # with an annotation that cannot be read
    (tree / "Annotations" / "three.xml").write_text("<annotation>")
    version_id = upload(database, settings, challenge_to_import(database), packed(tree))
    assert import_next(database, settings)
    imported = version(database, version_id)
    assert imported.state is TruthState.READY
    summary = imported.summary or {}
    assert {key for key in summary if key.startswith("detection")} == {
        *("detection/test", "detection/val", "detection/trainval")
    }
    assert summary["detection/trainval"]["images"] == 1
    car = {"images": 1, "objects": 1, "difficult": 0, "truncated": 0}
    assert summary["detection/trainval"]["classes"]["car"] == car
    assert "segmentation/val" not in summary  # the tree does not have that set


def test_what_the_web_process_writes_is_nowhere_readable(database: Database, settings: Settings, tree: Path) -> None:
    upload(database, settings, challenge_to_import(database), packed(tree))
    (sealed,) = plain_files(settings)
    assert sealed.suffix == ".sealed"
    assert packed(tree).read_bytes()[20:60] not in sealed.read_bytes()


def test_a_tree_with_errors_is_refused_with_all_of_them(database: Database, settings: Settings, tree: Path) -> None:
    (tree / "Annotations" / "one.xml").write_text("<annotation><object></annotation>")
    (tree / "Annotations" / "two.xml").write_text("no XML")
    challenge = challenge_to_import(database)
    version_id = upload(database, settings, challenge, packed(tree))
    assert import_next(database, settings)
    refused = version(database, version_id)
    assert refused.state is TruthState.FAILED
    assert refused.problems is not None
    assert {problem["file"] for problem in refused.problems} >= {"Annotations/one.xml", "Annotations/two.xml"}
    assert plain_files(settings) == []


def test_what_is_not_a_archive_is_refused(database: Database, settings: Settings, tmp_path: Path) -> None:
    text = tmp_path / "kit.tar.gz"
    text.write_text("not an archive")
    version_id = upload(database, settings, challenge_to_import(database), text)
    assert import_next(database, settings)
    assert version(database, version_id).state is TruthState.FAILED


@pytest.mark.parametrize(
    "harm", ["cut", "gone", "key replaced", "exchanged for another challenge's", "exchanged for an earlier one"]
)
def test_an_upload_that_cannot_be_opened_is_refused(
    database: Database, settings: Settings, tree: Path, harm: str
) -> None:
    challenge = challenge_to_import(database)
    version_id = upload(database, settings, challenge, packed(tree))
    sealed = sealed_path(settings, version_id)
    match harm:
        case "exchanged for another challenge's":  # as a web server could that someone has taken over
            sealed_path(settings, upload(database, settings, challenge_to_import(database), packed(tree))).replace(
                sealed
            )
        case "exchanged for an earlier one":
            sealed_path(settings, upload(database, settings, challenge, packed(tree))).replace(sealed)
        case "cut":
            sealed.write_bytes(sealed.read_bytes()[:-1])
        case "gone":
            sealed.unlink()
        case "key replaced":
            (settings.truth / "worker.private-key").write_bytes(bytes(PrivateKey.generate()))
    assert import_next(database, settings)
    refused = version(database, version_id)
    assert refused.state is TruthState.FAILED
    assert refused.problems[0]["code"] == "unusable_upload"


def test_a_worker_killed_while_it_imports_is_replaced(database: Database, settings: Settings, tree: Path) -> None:
    version_id = upload(database, settings, challenge_to_import(database), packed(tree))
    script = """
import os, signal, sys
from vocboard.app.database import Database
from tests.support.jobs import import_next
from vocboard.app.settings import Settings
from vocboard.evaluator.ground_truth import reader

reader.import_ground_truth = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
settings = Settings()
import_next(Database(settings.database), settings)
"""
    environment = {
        "VOCBOARD_DATABASE_URL": settings.database,
        "VOCBOARD_DATA_DIRECTORY": str(settings.data_directory),
        "VOCBOARD_LEASE": "PT0.1S",
    }
    killed = subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    assert killed.returncode == -9
    assert version(database, version_id).state is TruthState.IMPORTING
    time.sleep(0.2)
    assert import_next(database, settings)
    assert version(database, version_id).state is TruthState.READY
    sweep(database, settings)
    assert plain_files(settings) == []


def test_a_failure_of_ours_is_tried_again_and_then_given_up(
    database: Database, settings: Settings, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = settings.model_copy(update={"lease": settings.lease * 0})
    version_id = upload(database, settings, challenge_to_import(database), packed(tree))
    monkeypatch.setattr(work, "_renewing", lambda *_, **__: contextlib.nullcontext())

    def fails(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(reader, "import_ground_truth", fails)
    for _ in range(settings.evaluation_attempts):
        with pytest.raises(OSError, match="no space"):
            import_next(database, impatient)
    assert import_next(database, impatient)
    assert version(database, version_id).state is TruthState.FAILED


def test_an_import_waits_for_an_object_store_that_is_away(database: Database, settings: Settings, tree: Path) -> None:
    version_id = upload(database, settings, challenge_to_import(database), packed(tree))
    away = {"store": "s3://bucket", "store_endpoint": "http://127.0.0.1:1", "store_region": "x", "store_key_id": "x"}
    for _ in range(settings.evaluation_attempts + 1):
        assert import_next(database, settings.model_copy(update=away))
        assert version(database, version_id).state is TruthState.IMPORTING
        let_leases_end(database)
    assert import_next(database, settings)
    assert version(database, version_id).state is TruthState.READY


def test_the_sweep_takes_a_truth_that_fits_once_the_challenge_asks_for_less(
    database: Database, settings: Settings, tree: Path
) -> None:
    challenge = challenge_to_import(database, competitions=["comp3", "comp5"])
    version_id = upload(database, settings, challenge, packed(tree))
    assert import_next(database, settings)
    confirm(database, version_id)
    with database.writing() as session:
        found = service.get_visible(session, challenge.slug, None)
        assert current_phase(found, now()).state(now()) is PhaseState.NOT_READY
        found.main_phase.competition_keys = ["comp3"]
    sweep(database, settings)
    with database.reading() as session:
        assert current_phase(service.get_visible(session, challenge.slug, None), now()).state(now()) is PhaseState.OPEN


def test_the_sweep_removes_what_was_abandoned_and_nothing_that_is_needed(
    database: Database, settings: Settings, tree: Path
) -> None:
    waiting = upload(database, settings, challenge_to_import(database), packed(tree))
    orphan = sealed_path(settings, uuid.uuid4())
    shutil.copy(sealed_path(settings, waiting), orphan)
    fresh = sealed_path(settings, uuid.uuid4())
    shutil.copy(sealed_path(settings, waiting), fresh)
    old = time.time() - 2 * UNANNOUNCED_FOR.total_seconds()
    saved, saving = (settings.truth / f".{'a' * 64}.npz.{process_id}" for process_id in (1, 2))
    saved.touch()
    saving.touch()
    for path in (orphan, sealed_path(settings, waiting), saved):
        os.utime(path, (old, old))
    sweep(database, settings)
    assert not orphan.exists()
    assert not saved.exists()
    assert fresh.exists()
    assert saving.exists()
    assert sealed_path(settings, waiting).exists()


def test_the_sweep_leaves_the_file_of_an_import_that_begins_meanwhile(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[Path] = []
    waiting_versions = vars(ground_truth_queue)["waiting_versions"]

    def begin_after(session: Session) -> set[uuid.UUID]:
        waiting: set[uuid.UUID] = waiting_versions(session)
        files.append(GroundTruthDirectory(settings).scratch(uuid.uuid4(), uuid.uuid4()))
        files[0].touch()
        return waiting

    with monkeypatch.context() as patch:
        patch.setattr(ground_truth_queue, "waiting_versions", begin_after)
        sweep(database, settings)
    assert files[0].exists()
    sweep(database, settings)
    assert not files[0].exists()


def test_workers_that_start_at_once_agree_on_one_key(tmp_path: Path) -> None:
    script = "from vocboard.app.settings import Settings; "
    script += "from vocboard.worker.ground_truth_directory import GroundTruthDirectory; "
    script += "print(bytes(GroundTruthDirectory(Settings()).private_key()).hex())"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env={"VOCBOARD_DATA_DIRECTORY": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    assert len({process.communicate()[0] for process in running}) == 1
    assert (tmp_path / "truth").stat().st_mode & 0o077 == 0
    assert (tmp_path / "truth" / "worker.private-key").stat().st_mode & 0o077 == 0


def test_a_rotated_key_opens_what_waits_and_leaves_the_noise(
    database: Database, settings: Settings, tree: Path
) -> None:
    directory, challenge = GroundTruthDirectory(settings), challenge_to_import(database)
    waiting = upload(database, settings, challenge, packed(tree))
    noise, former = directory.noise_key(), directory.private_key()
    for _ in range(2):
        directory.rotate()
    assert bytes(GroundTruthInbox(settings.ground_truth_inbox).public_key()) != bytes(former.public_key)
    assert directory.noise_key() == noise
    assert import_next(database, settings)
    assert version(database, waiting).state is TruthState.READY
    later = upload(database, settings, challenge, packed(tree))
    assert import_next(database, settings)
    assert version(database, later).state is TruthState.READY
    sweep(database, settings)
    assert len(directory.private_keys()) == 3
    for path in settings.truth.glob("former.*"):
        os.utime(path, (0, 0))
    sweep(database, settings)
    assert len(directory.private_keys()) == 1
    assert all(path.stat().st_mode & 0o077 == 0 for path in settings.truth.glob("*key*"))


def test_a_lost_private_key_is_not_replaced(settings: Settings) -> None:
    directory = GroundTruthDirectory(settings)
    directory.private_key()
    (settings.truth / "worker.private-key").unlink()
    with pytest.raises(LostKeyError, match=r"worker\.private-key is missing.*Restore it from the backup"):
        directory.private_key()
    assert not (settings.truth / "worker.private-key").exists()
    (settings.truth / "worker.private-key").write_text("another file")
    with pytest.raises(
        LostKeyError, match=r"worker\.private-key cannot be used as the private key, which has 32 bytes"
    ):
        directory.private_key()


def test_identical_truth_is_stored_once(database: Database, settings: Settings, tree: Path) -> None:
    challenge = challenge_to_import(database)
    for _ in range(2):
        upload(database, settings, challenge, packed(tree))
        assert import_next(database, settings)
    assert len(list(settings.truth.glob("*.npz"))) == 1
    with database.reading() as session:
        states = session.scalars(select(GroundTruthVersion.state)).all()
    assert states == [TruthState.READY, TruthState.READY]


def test_the_sample_tree_is_refused_and_other_images_have_to_be_confirmed(
    database: Database, settings: Settings, tree: Path, tmp_path: Path
) -> None:
    sample = packed(write_sample_tree(load("VOC2012"), tmp_path / "sample"))

    def imported(challenge: Challenge, archive: Path) -> GroundTruthVersion:
        version_id = upload(database, settings, challenge, archive)
        assert import_next(database, settings)
        return version(database, version_id)

    with database.writing() as session:
        challenge = make_challenge(session, organiser=make_organiser(session))
    assert not [one for one in imported(challenge, packed(tree)).warnings or () if one["code"] == "other_images"]
    with database.writing() as session:
        make_published(session, challenge, make_user(session), "Method", 0.5)
    warned = imported(challenge, packed(tree))
    assert (warned.warnings or ())[0]["code"] == "other_images"
    assert "are not in the same image set of this tree" in (warned.warnings or ())[0]["message"]
    assert needs_confirmation(warned)
    refused = imported(challenge, sample)
    assert refused.state is TruthState.FAILED
    assert [one["code"] for one in refused.problems or ()] == ["example_tree"]

    with database.writing() as session:
        current = main_truth(session, session.get_one(Challenge, challenge.id))
        warned_images = challenge_queries.image_sets_of(session, warned.id)
        assert warned_images is not None
        found = ImageSets.from_json(gzip.decompress(warned_images))
        sets = {key: ImageSet(of_task.images[1:]) for key, of_task in found.sets.items()}
        current.image_sets = pack_image_sets(ImageSets(found.edition, sets))
    larger = imported(challenge, packed(tree))
    assert (larger.warnings or ())[0]["code"] == "other_images"
    assert "1 image more than those of version" in (larger.warnings or ())[0]["message"]
    assert needs_confirmation(larger)

    rehearsed = challenge_to_import(database)
    for _ in range(2):  # what is based on it can be corrected with it
        assert imported(rehearsed, sample).state is TruthState.READY
