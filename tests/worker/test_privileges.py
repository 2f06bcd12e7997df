"""A submission's life with the database roles of the real set-up: each process is allowed what it has to do."""

import asyncio
import contextlib
import tarfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.orm import Session

from tests.support.factories import PASSWORD, make_challenge, make_user
from tests.support.jobs import diagnose_next, evaluate_next, import_next, rescore_next, sweep, update_next
from tests.support.phases import show_board
from tests.support.scored import make_scored
from tests.support.services import in_full
from tests.support.small_world import packed
from tests.support.trees import write_tree
from vocboard.app.accounts import administration, links, password_changes, service
from vocboard.app.accounts import registration as register
from vocboard.app.accounts.models import LinkPurpose, Role, Scope, User
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.accounts.passwords import hashed
from vocboard.app.accounts.people import new_user
from vocboard.app.accounts.signing_in import Attempt, SignInService
from vocboard.app.announcements import announcing, asking
from vocboard.app.challenges import files, organisers
from vocboard.app.challenges import ground_truth as versions
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.ground_truth import add_ground_truth_version
from vocboard.app.challenges.models import Challenge, Scoring, Visibility
from vocboard.app.database import Database, now
from vocboard.app.errors import SignInError
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.evaluations.diagnosis_tasks import UnknownDiagnoses
from vocboard.app.evaluations.models import (
    CompetitionResult,
    DiagnosisShares,
    Evaluation,
    SecretDiagnosis,
    SecretEvidence,
)
from vocboard.app.intake import challenge_files, submitting
from vocboard.app.intake.report import EnteredCompetition, Report
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.leaderboards import sequence_queue
from vocboard.app.leaderboards.export import as_csv
from vocboard.app.leaderboards.models import (
    BoardAgreement,
    BoardDifferences,
    BoardStatistics,
    ImageSetComparison,
    RescoreState,
    SecretReplicates,
    StatisticsUpdate,
    SubmissionSequence,
)
from vocboard.app.leaderboards.shown_statistics import differences
from vocboard.app.organising import archiving, bans, moderation
from vocboard.app.organising.bans import Results
from vocboard.app.participating import publishing
from vocboard.app.participating import withdrawing as submissions
from vocboard.app.rescores import queries as rescore_queries
from vocboard.app.rescores import service as rescores
from vocboard.app.settings import RegistrationPolicy, Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.forms import SubmissionForm
from vocboard.app.submissions.models import State, Submission
from vocboard.app.teams.models import Team
from vocboard.app.transfer import importing
from vocboard.app.transfer.exporting import begin_export
from vocboard.migrations import privileges, upgrade
from vocboard.worker.ground_truth_directory import GroundTruthDirectory

pytestmark = pytest.mark.services


@pytest.fixture
def settings(process_roles: None, postgres_url: str, tmp_path: Path) -> Settings:
    upgrade(postgres_url)
    return Settings(data_directory=tmp_path / "data", database_url=postgres_url)


def connected_as(role: str, url: str) -> Iterator[Database]:
    database = Database(in_full(make_url(url).update_query_dict({"options": f"-c role={role}"})))
    yield database
    database.close()


@pytest.fixture
def web(settings: Settings) -> Iterator[Database]:
    yield from connected_as(privileges.WEB_ROLE, settings.database)


@pytest.fixture
def worker(settings: Settings) -> Iterator[Database]:
    yield from connected_as(privileges.WORKER_ROLE, settings.database)


def people_come_and_go(web: Database) -> tuple[User, User]:
    """Everything that accounts can do; a participant and an organiser stay."""
    day = timedelta(days=1)
    policy = RegistrationPolicy()
    registration = register.check(email="ada@lab.example", name="Ada", affiliation="", password=PASSWORD, policy=policy)
    with web.writing() as session:
        register.count_attempt(session, email=registration.email, address="192.0.2.1")
        register.register(session, registration, password_hash=hashed(PASSWORD), policy=policy, site="http://x.example")
    with web.writing() as session:
        person = administration.get_user(session, "ada@lab.example")
        secret = links.create(session, user=person, purpose=LinkPurpose.CONFIRM_ADDRESS)
        person = links.use(session, secret, LinkPurpose.CONFIRM_ADDRESS)
        register.confirm(session, user=person, settings=Settings(public_url="http://x.example"))
    eve = new_user(email="eve@lab.example", name="Eve", affiliation="", password=PASSWORD, role=Role.ORGANISER)
    with web.writing() as session:
        organiser = administration.create_user(session, person=eve)
    sign_in_service = SignInService(PasswordWork(), Settings())
    with pytest.raises(SignInError):
        asyncio.run(sign_in_service.sign_in(web, Attempt("ada@lab.example", "", "192.0.2.1")))
    signed_in = asyncio.run(sign_in_service.sign_in(web, Attempt("ada@lab.example", PASSWORD, "192.0.2.1")))
    ada, secret = signed_in.user, signed_in.secret
    with web.writing() as session:
        found = service.user_of_session(session, secret)
        service.record_use(session, found[1])
        password_changes.change(
            session,
            user=ada,
            verified_hash=ada.password_hash,
            password_hash=hashed("a new password"),
            keep=None,
            site="http://x.example",
        )
        token, _ = service.create_token(session, user=ada, label="a", scopes=[Scope.READ], lifetime=day)
        service.revoke_token(session, user=ada, token_id=token.id)
    return ada, organiser


def hand_in_truth(web: Database, settings: Settings, organiser: User, tree: Path) -> Challenge:
    with web.writing() as session:
        challenge = make_challenge(session, organiser=organiser, competitions=["comp3"], ready=False)
    archive = tree.parent / "tree.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(tree, tree.name)
    with GroundTruthInbox(settings.ground_truth_inbox).receive(challenge_id=challenge.id, limit=10_000_000) as incoming:
        incoming.write(archive.read_bytes())
        version_id = incoming.keep()
    with web.writing() as session:
        organised = challenges.get_organised(session, challenge.slug, organiser)
        add_ground_truth_version(
            session, challenge=organised, user=organiser, file_name="tree.tar", version_id=version_id
        )
    return challenge


def has_work(worker: Database, kind: Kind) -> bool:
    """Ask as the worker's dispatcher does."""
    with worker.reading() as session:
        return jobs.count_due(session, [kind], limit=1) == 1


def test_each_process_may_do_its_part(web: Database, worker: Database, settings: Settings, tmp_path: Path) -> None:
    ada, organiser = people_come_and_go(web)
    GroundTruthDirectory(settings).private_key()
    challenge = hand_in_truth(web, settings, organiser, write_tree(tmp_path))
    sweep(worker, settings)
    assert has_work(worker, Kind.IMPORT)
    assert import_next(worker, settings)
    with web.writing() as session:
        organised = challenges.get_organised(session, challenge.slug, organiser)
        versions.confirm(session, challenge=organised, user=organiser, number=1)
    assert has_work(worker, Kind.IMPORT)
    assert import_next(worker, settings)

    store = ArchiveStore(settings.archives)
    store.set_up()
    files_come_and_go(web, store, challenge, organiser)
    people_talk(web, challenge, ada, organiser)
    with store.receive(limit=100_000) as incoming:
        incoming.write(results())
        incoming.finish()
        with web.writing() as session:
            submission_id = submitting.submit(
                session,
                user=ada,
                challenge=challenge,
                form=SubmissionForm(method_name="Method"),
                archive=incoming,
                report=Report((), (EnteredCompetition("comp3", ("car",)),)),
            ).id
    with web.reading() as session:
        assert queue.queue_position(session, queries.get_for(session, submission_id, ada)) == 1
    sweep(worker, settings)
    assert has_work(worker, Kind.EVALUATION)
    assert evaluate_next(worker, store, settings)
    with web.writing() as session:
        assert queries.get_for(session, submission_id, ada).state is State.SCORED
        publishing.publish(session, submission_id=submission_id, user=ada)
        publishing.create_anonymous_link(session, submission_id=submission_id, user=ada)
    with web.reading() as session:
        found = challenges.get_visible(session, challenge.slug, None)
        assert len(show_board(session, found, "comp3").rows) == 1
    keep_statistics(web, worker, settings, challenge, ada)
    score_again(web, worker, settings, challenge, organiser)
    organisers_moderate(web, challenge, submission_id, ada, organiser)
    challenge_moves(web, store, challenge, organiser, tmp_path)
    delete_draft(web, settings, organiser)
    with web.writing() as session:
        submissions.withdraw(session, submission_id=submission_id, user=ada)


def files_come_and_go(web: Database, store: ArchiveStore, challenge: Challenge, organiser: User) -> None:
    kit = files.described(name="kit.zip", title="", kind="", audience="admitted")
    with store.receive(limit=9) as incoming, web.writing() as session:
        incoming.write(b"kit")
        organised = challenges.get_organised(session, challenge.slug, organiser)
        added, _ = files.add(
            session,
            challenge=organised,
            user=organiser,
            description=kit,
            sha256=incoming.sha256,
            byte_count=3,
            limit=9,
        )
        incoming.keep()
    challenge_files.remove_file(web, store, slug=challenge.slug, file_id=added.id, user=organiser)
    assert list(store.stored()) == []


def people_talk(web: Database, challenge: Challenge, ada: User, organiser: User) -> None:
    """Organisers announce and answer, and remove both."""
    with web.writing() as session:
        given: dict[str, Any] = {"challenge": challenges.get_organised(session, challenge.slug, organiser)}
        question = asking.ask(session, **given, user=ada, text="Why?")
        given["user"] = organiser
        announcement = announcing.announce(session, **given, title="New", text="Data", email=True)
        announcing.correct(session, **given, announcement_id=announcement.id, title="New", text="New data")
        asking.answer(session, **given, question_id=question.id, text="Because", public=True)
    with web.writing() as session:
        announcing.remove(session, **given, announcement_id=announcement.id)
        asking.remove(session, **given, question_id=question.id)
    with web.writing() as session:  # what is exported and imported below
        announcing.announce(session, **given, title="Newer", text="Data", email=False)
        question = asking.ask(session, challenge=given["challenge"], user=ada, text="Why now?")
        asking.answer(session, **given, question_id=question.id, text="Because", public=True)


def keep_statistics(web: Database, worker: Database, settings: Settings, challenge: Challenge, ada: User) -> None:
    """Statistics from evidence, and again from the archive; the web process sees the results, and nothing secret."""
    store = ArchiveStore(settings.archives)
    assert has_work(worker, Kind.STATISTICS)
    while update_next(worker, store, settings):
        pass
    with web.reading() as session:
        shown = show_board(session, challenges.get_visible(session, challenge.slug, None), "comp3").statistics
        assert shown.is_current
        assert shown.statistics_id is not None
        differences(session, shown.statistics_id, ["car"])  # which may be read; so few images have none
    assert diagnose_next(worker, store, settings)
    with web.reading() as session:
        assert session.scalars(select(DiagnosisShares)).one().shares == {"first_results": None, "objects": None}
    with web.reading() as session:
        assert diagnosis_tasks.unknown(session, challenge.id) == UnknownDiagnoses(0, {})
    with pytest.raises(ProgrammingError, match="permission denied"), web.reading() as session:
        session.scalars(select(Job.detail)).all()
    for table in (SecretEvidence, SecretReplicates, StatisticsUpdate, SecretDiagnosis):
        with worker.reading() as session:
            assert session.scalars(select(table)).all()
        with pytest.raises(ProgrammingError, match="permission denied"), web.reading() as session:
            session.execute(select(table.__table__.primary_key.columns[0]))
    with worker.writing() as session:
        team = session.scalars(select(Team.id)).one()
        sequence = {"team_id": team, "submissions": 2, "latest_at": now(), "decimals": 4, "version": 0}
        session.add(SubmissionSequence(challenge_id=challenge.id, phase_id=challenge.main_phase.id, **sequence))
    with worker.writing() as session:
        sequence_queue.mark_changed(session)  # which forgets somebody with one submission
        assert session.scalars(select(SubmissionSequence)).all() == []
    with web.reading() as session:
        session.scalars(select(BoardAgreement)).all()
        session.scalars(select(ImageSetComparison)).all()
        session.scalars(select(SubmissionSequence)).all()
    with worker.writing() as session:
        for secret in (SecretEvidence, SecretReplicates):
            session.execute(delete(secret))
        session.execute(delete(BoardStatistics))
    while update_next(worker, store, settings):
        pass
    with web.reading() as session:
        again = show_board(session, challenges.get_visible(session, challenge.slug, None), "comp3").statistics
        assert again.methods == shown.methods
        for table in (BoardStatistics, BoardDifferences, BoardAgreement, ImageSetComparison, SubmissionSequence):
            with pytest.raises(ProgrammingError, match="permission denied"), web.writing() as writing:
                writing.execute(delete(table))


def organisers_moderate(
    web: Database, challenge: Challenge, submission_id: uuid.UUID, owner: User, organiser: User
) -> None:
    """What organisers do about submissions and people, and undo."""
    steps: list[Callable[[Session], object]] = [
        partial(moderation.hold_back, submission_id=submission_id, user=organiser),
        partial(moderation.allow_publishing, submission_id=submission_id, user=organiser),
        partial(moderation.disqualify, submission_id=submission_id, user=organiser, reason="Why.", site="https://x"),
        partial(moderation.reinstate, submission_id=submission_id, user=organiser, site="https://x"),
    ]
    for step in steps:
        with web.writing() as session:
            step(session)
    with web.writing() as session:
        organised = challenges.get_organised(session, challenge.slug, organiser)
        person = bans.entrant(session, challenge=organised, user_id=owner.id)
        given = {"challenge": organised, "person": person, "user": organiser}
        bans.ban(session, **given, reason="Why.", results=Results.KEEP, site="https://x")
        session.flush()
        bans.lift_ban(session, **given, site="https://x")
        organisers.invite(session, challenge=organised, user=organiser, email="new@lab.example", site="https://x")


def challenge_moves(web: Database, store: ArchiveStore, challenge: Challenge, organiser: User, tmp: Path) -> None:
    """A challenge is exported, imported under another name, archived and reopened."""
    path = tmp / "export.tar"
    with path.open("wb") as file:
        file.writelines(begin_export(web, store, slug=challenge.slug, user=organiser).stream())
    importing.import_challenge(
        web,
        store,
        path,
        user=organiser,
        slug="again",
        archive_limit_bytes=1_000_000,
        files_limit_bytes=1_000_000,
        redraw=lambda picture, size, drawn: drawn.write(picture.read_bytes()),
    )
    with web.writing() as session:
        first, second = (challenges.get_organised(session, slug, organiser) for slug in (challenge.slug, "again"))
        brought = show_board(session, second, "comp3")
        assert brought.imported is not None
        assert as_csv(show_board(session, first, "comp3")) == as_csv(replace(brought, imported=None))
        archiving.archive(session, challenge=first, user=organiser)
        archiving.reopen(session, challenge=first, user=organiser)


def delete_draft(web: Database, settings: Settings, organiser: User) -> None:
    """A draft is deleted with the rehearsals of its organisers, but not by the web process with other submissions."""
    with contextlib.closing(Database(settings.database)) as owner, owner.writing() as session:
        made = make_challenge(session, organiser=organiser, slug="draft", visibility=Visibility.DRAFT)
        make_scored(session, made, organiser, "Rehearsal", is_rehearsal=True)
        entry = make_scored(session, made, make_user(session), "Entry")
    for deleting in (
        delete(Submission).where(Submission.id == entry.id),
        delete(Challenge).where(Challenge.id == made.id),
    ):
        with pytest.raises(ProgrammingError, match="may not delete such"), web.writing() as session:
            session.execute(deleting)
    with contextlib.closing(Database(settings.database)) as owner, owner.writing() as session:
        session.execute(delete(Submission).where(Submission.id == entry.id))
    with web.writing() as session:
        draft = challenges.get_organised(session, "draft", organiser)
        archiving.delete_draft(session, challenge=draft, user=organiser)


def test_the_web_process_adds_no_scores_but_those_of_an_import(web: Database, settings: Settings) -> None:
    owner = Database(settings.database)
    with owner.writing() as session:
        challenge = make_challenge(session)
        person = make_user(session)
        scored = make_scored(session, challenge, person, "Method")
        evaluation_id, scoring_id = scored.current_evaluation_id, challenge.main_phase.current_scoring_id
        session.refresh(scored, ["current_evaluation_id"])
        evaluation_id = scored.current_evaluation_id
    owner.close()
    refused = [
        insert(Scoring).values(challenge_id=challenge.id, ground_truth_version_id=uuid.uuid4()),
        insert(Evaluation).values(
            submission_id=scored.id,
            scoring_id=scoring_id,
            evaluator_version="1",
            ground_truth_sha256="0" * 64,
            archive_sha256="0" * 64,
            started_at=now(),
            seconds=0,
        ),
        insert(CompetitionResult).values(
            evaluation_id=evaluation_id, competition="comp3", position=1, task="detection", details={}, not_entered=[]
        ),
        update(Challenge).where(Challenge.id == challenge.id).values(imported_at=now()),
        update(Submission).where(Submission.id == scored.id).values(current_evaluation_id=None),
        update(Submission).where(Submission.id == scored.id).values(state=State.FAILED),
        delete(Challenge).where(Challenge.id == challenge.id),
    ]
    for statement in refused:
        with pytest.raises(ProgrammingError, match=r"may not|permission denied"), web.writing() as session:
            session.execute(statement.execution_options(synchronize_session=False))


def score_again(web: Database, worker: Database, settings: Settings, challenge: Challenge, organiser: User) -> None:
    """A re-score, from the request to the switch."""
    with web.writing() as session:
        organised = challenges.get_organised(session, challenge.slug, organiser)
        started = rescores.start(
            session, challenge=organised, user=organiser, ground_truth_version=1, reason="Labels corrected"
        )
    assert has_work(worker, Kind.RESCORE)
    store = ArchiveStore(settings.archives)
    while rescore_next(worker, store, settings):
        pass
    with web.writing() as session:
        rescores.request_apply(session, rescore_id=started.id, user=organiser, reason="Another reason.")
    while rescore_next(worker, store, settings):
        pass
    with web.reading() as session:
        done = rescore_queries.get_organised(session, started.id, organiser)
        assert done.state is RescoreState.APPLIED
        assert done.report is not None
        assert rescore_queries.progress(session, done).done == 1


def results() -> bytes:
    """Make an archive with one detection."""
    return packed([("results/VOC2012/Main/comp3_det_test_car.txt", b"one 0.9 1 1 50 50\n")])
