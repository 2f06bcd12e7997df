"""Small things that many tests need in the database: people, challenges, ground truth that is ready.

Each takes a session of a writing transaction, and keyword arguments for what the test is about.
"""

import itertools
import uuid
from datetime import timedelta
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from tests.support.phases import complete
from vocboard.app.accounts import administration, service
from vocboard.app.accounts.models import Role, Scope, User
from vocboard.app.accounts.people import new_user
from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.ground_truth import pack_image_sets
from vocboard.app.challenges.models import (
    Audience,
    Challenge,
    ChallengeFile,
    FileKind,
    GroundTruthVersion,
    TruthState,
    Visibility,
)
from vocboard.app.challenges.rules import ChallengeRules, rules_of
from vocboard.app.database import now
from vocboard.app.evaluations.scorings import make_current, start_scoring
from vocboard.app.leaderboards.models import ReportedKind, ReportedResult
from vocboard.app.organising import bans, challenge_changes
from vocboard.app.organising.bans import Results
from vocboard.evaluator.editions import Edition, Task
from vocboard.evaluator.image_sets import ImageSet, ImageSets

PASSWORD = "correct horse battery"
WEEK = timedelta(days=7)
IMAGES = ("000001", "000002", "000003")

_numbers = itertools.count(1)


def make_user(
    session: Session, *, role: Role = Role.PARTICIPANT, confirmed: bool = True, approved: bool = True, **given: Any
) -> User:
    """Make a person whose password is `PASSWORD`; by default one who may submit."""
    number = next(_numbers)
    fields = {
        "email": f"person{number}@lab.example",
        "name": f"Person {number}",
        "affiliation": "Laboratory",
        "password": PASSWORD,
    }
    person = new_user(role=role, **{**fields, **given})
    person.email_confirmed_at = now() if confirmed else None
    person.approved_at = now() if approved else None
    return administration.create_user(session, person=person)


def make_organiser(session: Session, **given: Any) -> User:
    """Make a person who may make challenges."""
    return make_user(session, role=Role.ORGANISER, **given)


def make_token(session: Session, user: User, *scopes: Scope) -> str:
    """Make a token, with all scopes the person may have unless told which, and return its secret."""
    allowed = set(Scope) - ({Scope.ORGANISE} if user.role is Role.PARTICIPANT else set())
    return service.create_token(session, user=user, label="test", scopes=scopes or allowed, lifetime=timedelta(days=1))[
        1
    ]


def make_challenge(session: Session, *, organiser: User | None = None, ready: bool = True, **given: Any) -> Challenge:
    """Make a public VOC2012 challenge in classification (comp1) and detection (comp3) that has opened.

    Args:
        ready: with ground truth that `make_truth` makes; without it the challenge takes no submissions yet.
    """
    set_up = {"slug": f"challenge-{next(_numbers)}", "edition": "VOC2012", "edition_file": None}
    rules = {
        "title": "A challenge",
        "decimals": 4,
        "competitions": ["comp1", "comp3"],
        "opens_at": now() - timedelta(days=1),
        "visibility": Visibility.PUBLIC,
    }
    challenge = challenge_changes.create(
        session,
        organiser=organiser or make_organiser(session),
        rules=ChallengeRules(**{**rules, **{name: given[name] for name in given if name not in set_up}}),
        **{**set_up, **{name: given[name] for name in given if name in set_up}},
    )
    if ready:
        make_truth(session, challenge)
    return challenge


def make_truth(session: Session, challenge: Challenge, *, current: bool = True) -> GroundTruthVersion:
    """Make a version of ground truth as the worker leaves it once imported, for all the challenge's competitions.

    Only the row: no file of it is anywhere. For one that can be scored against, import a golden tree.

    Args:
        current: whether submissions are scored against it.
    """
    number = next(_numbers)
    version = GroundTruthVersion(
        challenge_id=challenge.id,
        phase_id=challenge.main_phase.id,
        number=number,
        file_name="devkit.tar.gz",
        state=TruthState.READY,
        sha256=f"{number:064x}",
        summary={},
        competitions=list(challenge.main_phase.competition_keys),
        image_sets=pack_image_sets(make_image_sets(edition_of(challenge))),
    )
    session.add(version)
    session.flush()
    if current:
        scoring = start_scoring(session, challenge=challenge, version=version)
        make_current(session, challenge=challenge, scoring=scoring, actor=None, phase_id=challenge.main_phase.id)
        session.flush()
    return version


def make_file(session: Session, challenge_id: uuid.UUID, **given: Any) -> ChallengeFile:
    """Make a public file of a challenge, whose content is lost."""
    fields = {"kind": FileKind.DATA, "audience": Audience.PUBLIC, "name": "kit.zip", "title": "", "byte_count": 9}
    content = {"sha256": "0" * 64, "media_type": "application/zip"}
    file = ChallengeFile(challenge_id=challenge_id, **{**fields, **content, **given})
    session.add(file)
    session.flush()
    return file


def make_reported(session: Session, challenge: Challenge, **given: Any) -> ReportedResult:
    """Make a baseline on the leaderboard of comp1 of the main phase."""
    source = {"kind": ReportedKind.BASELINE, "method": "Chance", "reference": "", "note": ""}
    result = {"competition": "comp1", "mean": 0.5, "per_class": {}}
    row = ReportedResult(challenge_id=challenge.id, phase_id=challenge.main_phase.id, **{**source, **result, **given})
    session.add(row)
    session.flush()
    return row


def change_rules(session: Session, challenge: Challenge, user: User, **changes: Any) -> None:
    """Change rules of a challenge or of its main phase, as its organiser does it."""
    found = complete(session, challenge.id)
    rules = rules_of(found).model_copy(update=changes)
    challenge_changes.update(session, challenge=found, user=session.get_one(User, user.id), rules=rules)


def ban(session: Session, challenge: Challenge, person: User, user: User, results: Results = Results.KEEP) -> None:
    """Ban a person from a challenge, as its organiser does it."""
    bans.ban(
        session,
        challenge=complete(session, challenge.id),
        person=session.get_one(User, person.id),
        user=session.get_one(User, user.id),
        reason="Several accounts.",
        results=results,
        site="https://voc.example",
    )


def make_image_sets(edition: Edition) -> ImageSets:
    """Make image sets of `IMAGES`, each 500 by 375 pixels with one person, for every competition of the edition."""
    sizes = np.tile(np.array([[500, 375]], dtype=np.int32), (len(IMAGES), 1))
    persons = np.array([[index, 1] for index in range(len(IMAGES))], dtype=np.int32)
    naming_people = (Task.LAYOUT, Task.ACTION)
    return ImageSets(
        edition=edition.name,
        sets={
            (competition.task, competition.image_set): ImageSet(
                images=IMAGES, sizes=sizes, persons=persons if competition.task in naming_people else None
            )
            for competition in edition.competitions.values()
        },
    )
