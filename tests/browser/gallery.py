"""A site with sample data: every state of a challenge, a submission, a ground truth and a leaderboard."""

import hashlib
import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.browser.gallery_measures import add_two_measures
from tests.browser.gallery_states import add_states
from tests.browser.gallery_statistics import add_across_methods, add_statistics
from tests.support import scored
from tests.support.factories import make_challenge, make_organiser, make_reported, make_user
from tests.support.phases import main_phase, main_truth
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import Role, Scope, User
from vocboard.app.announcements import announcing, asking
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, TruthState, Visibility
from vocboard.app.challenges.organisers import invite
from vocboard.app.challenges.rules import DataLink
from vocboard.app.database import now
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.evaluations.service import Diagnosis, store_diagnoses
from vocboard.app.leaderboards.models import ReportedKind
from vocboard.app.leaderboards.service import columns
from vocboard.app.organising.bans import Results, ban
from vocboard.app.participating.publishing import create_anonymous_link
from vocboard.app.rescores import service as rescores
from vocboard.app.settings import Settings
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import State, Submission
from vocboard.app.webhooks import events
from vocboard.app.webhooks import service as webhooks
from vocboard.app.webhooks.models import CHOICES, Event, Off, WebhookDelivery
from vocboard.app.webhooks.service import Owner
from vocboard.evaluator.editions import Competition, Metric, Task, load
from vocboard.evaluator.problems import Problem, Severity
from vocboard.evaluator.scores import ClassDetails, CompetitionScores, Curve, Measure

EDITION = load("VOC2012")
ALL = tuple(EDITION.competitions)
LABS = (
    "Field Robotics Laboratory",
    "Institute of Imaging",
    "",
    "Vision Group, Technical University of Somewhere Far Away",
)
PEOPLE = (
    "A. Turing, G. Hopper",
    "K. Johnson",
    "E. Noether, S. Kovalevskaya, M. Mirzakhani, and many others of the group",
)
DIAGNOSIS = Diagnosis(
    exact={},
    by_image={
        "first_results": {"right": 3000.0, "location": 900.0, "similar": 300.0, "other": 100.0, "background": 600.0},
        "objects": {"right": 4000.0, "nearly": 600.0, "missed": 300.0},
    },
)
PAGE: dict[str, Any] = {
    "summary": "Detect, classify and segment the twenty classes of the VOC2012 test set.",
    "description": """Results are scored by the rules of the year's [development kit](https://kit.example/voc2012).

## What is new

- Ten **actions** of people, with and without boxes
- Segmentation of `trainval` has doubled

| images | training | validation | test |
|---|--:|--:|--:|
| detection | 5717 | 5823 | 10991 |
| segmentation | 1464 | 1449 | 1456 |

> The test set is hidden.

```
tar czf results.tar.gz results
```""",
    "website": "https://voc.example/2012",
    "contact": "organisers@voc.example",
    "organised_by": "Olga Organiser, Field Robotics Laboratory\nInstitute of Imaging",
    "citation": "@misc{voc2012,\n  title = {Visual Object Classes Challenge 2012},\n  year = {2012}\n}",
    "data_links": (
        DataLink(
            title="Training and validation images, with annotations",
            url="https://data.example/voc2012/trainval.tar",
            bytes=1_999_639_040,
            sha256="e14f763270cf193d0b5f74b169f44157a4b0c6efa708f4dd0ff78ee691763bcb",
        ),
        DataLink(title="Development kit", url="https://data.example/voc2012/devkit"),
    ),
}


@dataclass
class Gallery:
    """Where to find what."""

    participant: str = ""
    organiser: str = ""
    administrator: str = ""
    rival: str = ""
    submissions: dict[str, uuid.UUID] = field(default_factory=dict)
    anonymous: str = ""
    rescore: str = ""
    states: dict[str, str] = field(default_factory=dict)

    def address(self, path: str) -> str:
        """Return a path with what it names in braces."""
        return path.format(anonymous=self.anonymous, rescore=self.rescore, **self.submissions, **self.states)


def fill(session: Session, *, methods: int = 200) -> Gallery:
    """Make all of it.

    Args:
        methods: published ones on the board of comp3.
    """
    random = np.random.default_rng(7)
    gallery = Gallery()
    organiser = make_organiser(session, name="Olga Organiser")
    participant = make_user(session, name="Paula Participant", affiliation=LABS[0])
    gallery.organiser, gallery.participant = organiser.email, participant.email
    gallery.administrator = make_user(session, role=Role.ADMINISTRATOR, name="Ada Administrator").email
    challenge = make_challenge(
        session,
        organiser=organiser,
        slug="voc2012",
        title="Visual object classes 2012",
        **PAGE,
        competitions=list(ALL),
        closes_at=now() + timedelta(days=30),
    )
    gallery.rescore = str(_other_challenges(session, organiser))
    gallery.states = add_states(session, organiser, participant)
    add_two_measures(session, organiser, participant)
    _truth_versions(session, challenge, organiser)
    paper = {"kind": ReportedKind.PAPER, "reference": "https://doi.org/10.1000/182", "note": "table 2"}
    reported = make_reported(session, challenge, competition="comp9", method="Reported network", mean=0.4321, **paper)
    gallery.states["reported"] = str(reported.id)
    _announcements_and_questions(session, challenge, organiser, participant)
    _webhooks(session, Owner(organiser, challenge.id))
    _webhooks(session, Owner(participant))
    others = [make_user(session, name=f"Rival {number}") for number in range(4)]
    gallery.rival = others[1].email
    for number in range(methods):
        gallery.submissions["published"] = _board_row(session, random, challenge, others[number % 4], number, ["comp3"])
    for number in range(methods, methods + 12):
        keys = ["comp5", "comp7", "comp1"]
        gallery.submissions["of_few"] = _board_row(session, random, challenge, others[number % 4], number, keys)
    _own_submissions(session, np.random.default_rng(7), challenge, participant, gallery)
    _moderation(session, challenge, organiser, others[0])
    add_statistics(session, challenge, "comp3")
    add_across_methods(session, challenge, "comp3")
    for name in ("scored", "published"):
        shown = session.get_one(Submission, gallery.submissions[name])
        gallery.submissions[f"{name}_method"] = shown.method_id
    gallery.anonymous = create_anonymous_link(session, submission_id=gallery.submissions["scored"], user=participant)
    for label in ("cluster", "laptop"):
        accounts.create_token(
            session, user=participant, label=label, scopes=[Scope.READ, Scope.SUBMIT], lifetime=timedelta(days=90)
        )
    return gallery


def _moderation(session: Session, challenge: Challenge, organiser: User, banned: User) -> None:
    invite(session, challenge=challenge, user=organiser, email="eve@elsewhere.example", site="https://voc.example")
    ban(
        session,
        challenge=challenge,
        person=banned,
        user=organiser,
        reason="Registered three accounts to get around the quota.",
        results=Results.KEEP,
        site="https://voc.example",
    )


def _other_challenges(session: Session, organiser: User) -> uuid.UUID:
    """Make challenges in other states; return the id of a re-score of the one that is over."""
    day = timedelta(days=1)
    make_challenge(session, organiser=organiser, slug="voc2007", title="Objects of 2007", edition="VOC2007")
    make_challenge(
        session, organiser=organiser, slug="next", title="Next year’s challenge", ready=False, opens_at=now() + 9 * day
    )
    past = make_challenge(session, organiser=organiser, slug="past", title="The one before", closes_at=now() - day / 2)
    make_challenge(
        session,
        organiser=organiser,
        slug="draft",
        title="A draft with a title so long that it has to be broken into several lines on a telephone",
        visibility=Visibility.DRAFT,
        ready=False,
    )
    truth = main_truth(session, past)
    assert truth is not None
    reason = "The label of one image was wrong."
    return rescores.start(session, challenge=past, user=organiser, ground_truth_version=truth.number, reason=reason).id


def _announcements_and_questions(session: Session, challenge: Challenge, organiser: User, participant: User) -> None:
    by: dict[str, Any] = {"challenge": challenge, "user": organiser}
    for title in ("The workshop is on 24 September", "Servers are slow this week", "The deadline has moved"):
        text = (
            "The **new** deadline is:\n\n| Phase | Closes |\n|---|---|\n| Main | 1 March |\n\nSee https://lab.example/."
        )
        announcing.announce(session, **by, title=title, text=text, email=True)
    announcing.correct(
        session,
        **by,
        announcement_id=announcing.announce(
            session, **by, title="Data without duplicates", text="See `Data`.", email=False
        ).id,
        title="New data without duplicates",
        text="See the tab *Data*.",
    )
    for number, public in enumerate((None, False, True)):
        text = f"May methods of comp{number + 1} be trained with COCO? We would use `train2017` alone."
        question = asking.ask(session, challenge=challenge, user=participant, text=text)
        if public is not None:
            answer = "Yes, if you enter a competition that allows other data."
            asking.answer(session, **by, question_id=question.id, text=answer, public=public)


def _webhooks(session: Session, owner: Owner) -> None:
    """Add one that works and one that is switched off, with deliveries in every state."""
    for name in ("leaderboard-bot", "old"):
        url = f"https://{name}.lab.example/challenges/voc"
        webhook, _ = webhooks.add(session, owner=owner, url=url, chosen=CHOICES, settings=Settings())
        events.add(session, Event.SCORED, [webhook.id] * 3, {})
        delivered, failed, _ = session.scalars(select(WebhookDelivery).where(WebhookDelivery.webhook_id == webhook.id))
        delivered.status, delivered.attempts, delivered.is_delivered, delivered.ended_at = 204, 1, True, now()
        failed.error, failed.attempts, failed.ended_at = "no answer in time", 3, now()
    webhook.off_because = Off.GONE


def _truth_versions(session: Session, challenge: Challenge, organiser: User) -> None:
    problem = Problem("missing_annotation", Severity.ERROR, "This image has no annotation.", "Annotations/2.xml")
    current = main_truth(session, challenge)
    assert current is not None
    counts = {name: {"positives": 1234, "difficult": 56} for name in EDITION.classes}
    current.summary = {"detection/test": {"images": 4952, "classes": counts}, "segmentation/test": {"images": 210}}
    failed: dict[str, Any] = {"state": TruthState.FAILED, "problems": [problem.as_json()]}
    for number, given in enumerate((failed, {"state": TruthState.IMPORTING}), current.number + 1):
        session.add(
            GroundTruthVersion(
                challenge_id=challenge.id,
                phase_id=main_phase(session, challenge.id).id,
                number=number,
                uploaded_by_id=organiser.id,
                file_name=f"devkit-{number}.tar.gz",
                **given,
            )
        )


def _board_row(
    session: Session, random: np.random.Generator, challenge: Challenge, user: User, number: int, keys: list[str]
) -> uuid.UUID:
    quality = float(np.clip(random.beta(6, 3), 0.42, 0.97))
    submission = make_submission(
        session,
        challenge,
        user,
        name=f"{('YOLO', 'R-CNN', 'DPM', 'Transformer', 'ensemble of everything')[number % 5]}-{number:03}",
        keys=keys,
        created_at=now() - timedelta(hours=number + 1),
        affiliation=LABS[number % 4],
        contributors=PEOPLE[number % 3],
    )
    subset = number % 17 == 3
    _score(session, random, challenge, submission, quality, subset=subset, undefined=number % 23 == 5)
    submission.published_at = now()
    return submission.id


def _own_submissions(
    session: Session, random: np.random.Generator, challenge: Challenge, user: User, gallery: Gallery
) -> None:
    def own(state: State, keys: tuple[str, ...] = ("comp3",), **given: Any) -> Submission:
        made = make_submission(session, challenge, user, name=f"Own method, {state}", keys=list(keys), **given)
        made.state = state
        gallery.submissions[state.value] = made.id
        return made

    own_scored = own(State.SCORED, ("comp1", "comp3", "comp5", "comp7"))
    warning = Problem("box_upside_down", Severity.WARNING, "12 boxes are upside down. They match nothing.", "a.txt", 9)
    own_scored.warnings = [warning.as_json()]
    _score(session, random, challenge, own_scored, 0.7, subset=True, undefined=True)
    own(State.EVALUATING, claimed_at=now())
    own(
        State.FAILED,
        claimed_at=now(),
        finished_at=now(),
        failure="The evaluation took longer than 30 minutes.",
        failure_detail="SoftTimeLimitExceeded: It took too long.\n  worker/evaluation.py:87 in _evaluate",
    )
    own(State.WITHDRAWN, finished_at=now())
    own(
        State.DISQUALIFIED,
        finished_at=now(),
        disqualified_at=now(),
        moderation_reason="Trained on images of the test set.",
    )
    queue.add(session, own(State.QUEUED))


def make_submission(
    session: Session, challenge: Challenge, user: User, *, name: str, keys: list[str], **given: Any
) -> Submission:
    """Make a scored submission without its scores."""
    fields: dict[str, Any] = {
        "description": "Looks at the image twice.",
        "declarations": {"training_data": "VOC2012 trainval and one million images of our own; none from flickr."},
        "contributors": "P. Participant",
        "affiliation": "Laboratory",
        "archive_sha256": hashlib.sha256(
            ("DPM-002" if name == "ensemble of everything-004" else name).encode()
        ).hexdigest(),
        "archive_bytes": 3_456_789,
        "archive_name": "results.tar.gz",
    }
    classes = {key: EDITION.competitions[key].classes for key in keys}
    return scored.make_submission(session, challenge, user, name, classes, **{**fields, **given})


def _score(
    session: Session,
    random: np.random.Generator,
    challenge: Challenge,
    submission: Submission,
    quality: float,
    *,
    subset: bool,
    undefined: bool,
) -> None:
    scoring_id = main_phase(session, challenge.id).current_scoring_id
    assert scoring_id is not None
    keys = [entry.competition for entry in submission.entries]
    competitions = [EDITION.competitions[key] for key in keys]
    scores = {item.key: _scores(random, item, quality, subset=subset, undefined=undefined) for item in competitions}
    hashes = {"ground_truth_sha256": "9a" * 32, "archive_sha256": submission.archive_sha256}
    scored.store_scores(session, submission.id, scoring_id, scores, **hashes)
    of_this = Evaluation.submission_id == submission.id
    evaluation_id = session.scalars(select(Evaluation.id).where(of_this)).one()
    store_diagnoses(session, evaluation_id, {item.key: DIAGNOSIS for item in competitions}, noise_key=b"key")


def _scores(
    random: np.random.Generator, competition: Competition, quality: float, *, subset: bool, undefined: bool
) -> CompetitionScores:
    names = columns(competition)
    entered = names[: len(names) - 3] if subset and len(names) > 10 else names
    values = {name: 1 - (1 - quality) * float(random.uniform(0.3, 1.7)) for name in entered}
    if undefined and len(names) > 10:
        values[entered[4]] = float("nan")
    if competition.task is Task.SEGMENTATION:
        return CompetitionScores(
            competition=competition.key,
            task=competition.task,
            primary=Measure(competition.rules.metric, values),
            confusion_matrix=_confusion(random, len(names), quality),
            images_by_label=np.full(len(names), 400),
            not_entered=tuple(name for name in names if name not in entered),
        )
    secondary = (Measure(Metric.WHOLE_PERSON_AVERAGE_PRECISION, {"person": 0.123}),)
    return CompetitionScores(
        competition=competition.key,
        task=competition.task,
        primary=Measure(competition.rules.metric, values),
        secondary=secondary if competition.task is Task.LAYOUT else (),
        details={name: _details(value) for name, value in values.items()},
        curves={name: _curve(value) for name, value in values.items()},
        not_entered=tuple(name for name in names if name not in entered),
    )


def _details(score: float) -> ClassDetails:
    return ClassDetails(0 if np.isnan(score) else 1234, 52404, 17, score, score / 2)


def _curve(score: float) -> Curve:
    if np.isnan(score):
        return Curve(np.full(5, np.nan), np.linspace(1, 0, 5))
    recall = np.linspace(0, min(1.0, score + 0.1), 120)
    saw = 0.03 * np.abs(np.sin(40 * recall))
    return Curve(recall, np.clip(1 - (recall ** (1 + 6 * score)) - saw, 0, 1))


def _confusion(random: np.random.Generator, size: int, quality: float) -> Any:
    matrix = random.integers(0, 2_000, (size, size))
    matrix[random.random((size, size)) < 0.4] = 0
    np.fill_diagonal(matrix, (quality * random.integers(20_000, 90_000, size)).astype(int))
    matrix[0, 0] = 9_000_000
    matrix[:, 0] += 9_000
    matrix[4, :] = 0
    return matrix
