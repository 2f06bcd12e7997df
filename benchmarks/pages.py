"""How long every page takes where many people take part.

    python -m benchmarks.pages [--people 5000] [--teams 500] [--submissions 20000] [--over 100]
    python -m benchmarks.pages --people 10000 --challenges 50 --times 11    # 1,200,000 submissions, 50,400,000 scores

fills a challenge on PostgreSQL, with a log, undelivered email, notifications and questions, requests and
admissions; asks for every page as a
visitor, a participant, its organiser and an administrator; and prints those that take longest. Exit status 1 if the
median of one is over so many milliseconds, or one fails.
"""

import argparse
import http.client
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from sqlalchemy import insert, literal, select
from sqlalchemy.orm import Session
from starlette.routing import Route

from benchmarks.cases.board import analyse
from benchmarks.datasets.boards import COMPETITION, SLUG, fill
from benchmarks.datasets.copies import multiply
from benchmarks.running import DURABLE
from tests.support.browsing import sign_in
from tests.support.factories import PASSWORD, make_organiser, make_user
from tests.support.postgres import postgres_server
from tests.support.services import in_full
from tests.support.site import serving
from vocboard import migrations
from vocboard.app.accounts.models import Role, User
from vocboard.app.accounts.passwords import hashed
from vocboard.app.announcements.models import Question
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.models import (
    AdmissionRequest,
    Challenge,
    ChallengeOrganiser,
    ChallengePhase,
    GroundTruthVersion,
    PhaseAdmission,
    Scoring,
)
from vocboard.app.database import Base, Database
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.leaderboards.models import Rescore, RescoreItem, RescoreState
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.messaging.outbox import MailFailure
from vocboard.app.notifications.models import Notification, NotificationKind
from vocboard.app.rescores.summaries import summarise
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Method, Submission

PUBLISHED = 200
ROUNDS = 5
ACTIONS = 10_000  # in the log; and as many notifications, and emails that were rejected
QUESTIONS = 200
MODELS = (AuditEvent, OutgoingMail, Job, Notification, Question, AdmissionRequest, PhaseAdmission)
SORTS = ("latest", "name", "submissions", "best", "improvement")
# Streams, and answers that are whole files: not pages.
NO_PAGES = ("/readyz", "/events", "/log.csv", "/export", ".atom", "/archive")


@dataclass(frozen=True, slots=True)
class Viewers:
    """Addresses of those who look, by what they are called, and the parameters of what they look at."""

    emails: Mapping[str, str]
    known: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds of one page: the first time, the median and the worst of `ROUNDS`; KiB of its answer."""

    viewer: str
    path: str
    status: int
    first: float
    median: float
    worst: float
    size: float


def addresses(application: FastAPI, known: Mapping[str, str]) -> list[str]:
    """Return the paths of all pages that these parameters are enough for, in order."""
    routes = (route for route in application.routes if isinstance(route, Route))
    templates = [route.path for route in routes if "GET" in (route.methods or ())]
    found = {
        path.format(**known)
        for path in templates
        if not path.startswith(("/api/", "/docs", "/static"))
        and not path.endswith(NO_PAGES)
        and all(name in known for name in _parameters(path))
    }
    entrants = f"/organise/{SLUG}/entrants"
    return sorted(found | {f"{entrants}?sort={sort}" for sort in SORTS} | {f"/organise/{SLUG}/submissions?q=yolo"})


def _parameters(path: str) -> Iterator[str]:
    for part in path.split("{")[1:]:
        yield part.partition("}")[0]


def measure(client: httpx.Client, viewer: str, path: str) -> Timed:
    """Ask for a page, once, and then `ROUNDS` times."""
    times: list[float] = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        answer = client.get(path)
        times.append(1000 * (time.perf_counter() - began))
    first, *others = times
    size = len(answer.content) / 1024
    return Timed(viewer, path, answer.status_code, first, statistics.median(others), max(others), size)


def _add_activity(session: Session, participant: User) -> None:
    """Add what a challenge of this size leaves behind, from its log to the requests to take part."""
    challenge = session.scalars(select(Challenge)).one()
    rows: dict[type[Base], list[dict[str, Any]]] = {model: [] for model in MODELS}
    for one in session.scalars(select(Submission).limit(ACTIONS)):
        of_challenge, since = {"challenge_id": challenge.id}, one.created_at
        about = {"object_type": "submission", "object_id": one.id, "actor_id": one.user_id, **of_challenge}
        rows[AuditEvent].append({"created_at": since, "action": "submission.publish", **about})
        mail = {"recipient": participant.email, "subject": "Scored", "body": "", "expires_at": since}
        rows[OutgoingMail].append({"id": one.id, **mail})
        job = {"kind": Kind.MAIL, "key": one.id, "priority": 0, "finished_at": since, "failure": MailFailure.REJECTED}
        rows[Job].append(job)
        told = {"user_id": participant.id, "kind": NotificationKind.SCORED, "title": "Your submission is scored."}
        rows[Notification].append({"link": f"/submissions/{one.id}", **told, **of_challenge})
        asked = {"text": "May we?", "answer": "Yes.", "answered_at": since, "is_public": True}
        rows[Question].append({"user_id": one.user_id, **asked, **of_challenge})
    rows[Question] = rows[Question][:QUESTIONS]
    phase = session.scalars(select(ChallengePhase)).one()
    for number, user_id in enumerate(session.scalars(select(User.id))):
        rows[AdmissionRequest].append({"phase_id": phase.id, "user_id": user_id, "answers": []})
        rows[PhaseAdmission].append({"phase_id": phase.id, "email": f"person{number}@lab.example"})
    for model, of_model in rows.items():
        session.execute(insert(model), of_model)


def _people(session: Session) -> dict[str, str]:
    """Make those who look, and return their addresses."""
    challenge = session.scalars(select(Challenge)).one()
    organiser = make_organiser(session, email="organiser@lab.example")
    administrator = make_user(session, role=Role.ADMINISTRATOR, email="administrator@lab.example")
    session.add(ChallengeOrganiser(challenge_id=challenge.id, user_id=organiser.id))
    participant = session.get_one(User, session.scalars(select(Submission.user_id).limit(1)).one())
    participant.password_hash = hashed(PASSWORD)
    participant.email_confirmed_at = participant.approved_at = challenge.created_at
    _add_activity(session, participant)
    return {"participant": participant.email, "organiser": organiser.email, "administrator": administrator.email}


def _add_rescore(session: Session) -> uuid.UUID:
    """Add a re-score, to be applied, that changes all scores of all submissions."""
    challenge = session.scalars(select(Challenge)).one()
    truth = session.scalars(select(GroundTruthVersion)).one()
    score, rank = {"before": 0.5, "after": 0.51, "change": 0.01}, {"before": 2, "after": 1}
    classes = dict.fromkeys(edition_from(challenge.edition, None).competitions[COMPETITION].classes, score)
    same = {"competition": COMPETITION, "published": True, "rank": rank, "mean": score, "classes": classes}
    query = select(Submission.id, Method.name).join(Submission.method)
    changes = [{"submission": str(id_), "method": name, **same} for id_, name in session.execute(query)]
    number = len(changes)
    counts = {"evaluated": number, "published": PUBLISHED, "scores_changed": number, "ranks_changed": PUBLISHED}
    report = {
        **{name: {"before": "1", "after": "1"} for name in ("ground_truth", "evaluator", "edition")},
        "competitions": [{"competition": COMPETITION, **counts}],
        "changes": changes,
        "failures": [],
    }
    scoring = Scoring(challenge_id=challenge.id, ground_truth_version_id=truth.id)
    session.add(scoring)
    session.flush()
    ids = {"challenge_id": challenge.id, "ground_truth_version_id": truth.id, "scoring_id": scoring.id}
    reports = {"report": report, "report_summary": summarise(report)}
    rescore = Rescore(reason="Boxes corrected", state=RescoreState.READY, evaluator_version="1", **ids, **reports)
    session.add(rescore)
    session.flush()
    items = select(literal(rescore.id), Submission.id, Submission.created_at)
    session.execute(insert(RescoreItem).from_select(["rescore_id", "submission_id", "finished_at"], items))
    return rescore.id


def fill_all(settings: Settings, *, people: int, teams: int, submissions: int, challenges: int, times: int) -> Viewers:
    """Fill a migrated database, and return who looks at it, and at what."""
    with closing(Database(settings.database)) as database:
        with database.writing() as session:
            fill(session, submissions=submissions, published=PUBLISHED, people_count=people, teams=teams)
        with database.writing() as session:
            addresses = _people(session)
            shown = session.scalars(select(Submission).where(Submission.published_at.is_not(None)).limit(1)).one()
            known = {
                "slug": SLUG,
                "competition": COMPETITION,
                "submission_id": str(shown.id),
                "method_id": str(shown.method_id),
                "key": "main",
                "user_id": str(shown.user_id),
                "rescore_id": str(_add_rescore(session)),
            }
        multiply(database, challenges=challenges, times=times)
        analyse(database)
    return Viewers({"visitor": "", **addresses}, known)


def measure_all(settings: Settings, viewers: Viewers) -> list[Timed]:
    """Serve a filled database, and return the times of all pages."""
    found = []
    with ExitStack() as stack:
        site = stack.enter_context(serving(settings))
        paths = addresses(site.application, viewers.known)
        for viewer, email in viewers.emails.items():
            client = stack.enter_context(site.client())
            if email:
                sign_in(client, email)
            found += [measure(client, viewer, path) for path in paths]
    return found


def main() -> int:
    """Run it once, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    sizes = {"people": 5000, "teams": 500, "submissions": 20000, "challenges": 1, "times": 1}
    for name, default in (*sizes.items(), ("over", 100), ("rows", 30)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, postgres_server(DURABLE) as server:
        settings = Settings(data_directory=Path(directory), database_url=in_full(server.create_database()))
        migrations.upgrade(settings.database)
        viewers = fill_all(settings, **{name: getattr(given, name) for name in sizes})
        found = measure_all(settings, viewers)
    shown = [one for one in found if one.status == http.client.OK]
    failed = [one for one in found if one.status >= http.client.INTERNAL_SERVER_ERROR]
    for one in [*failed, *sorted(shown, key=lambda one: -one.median)[: given.rows]]:
        times = f"{one.median:7.1f} ms, worst {one.worst:7.1f}, first {one.first:7.1f}"
        print(f"{times} {one.size:7.1f} KiB  {one.status} {one.viewer} {one.path}")
    print(f"{len(shown)} pages of {len({one.path for one in shown})} addresses")
    return 1 if failed or any(one.median > given.over for one in shown) else 0


if __name__ == "__main__":
    sys.exit(main())
