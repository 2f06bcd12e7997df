"""Everything that changes submissions, at random and at the same time, on PostgreSQL: nothing may end in a deadlock.

    .venv/bin/python -m tests.deadlocks --seconds 600

`tests/app/submissions/test_races.py` does the same for a few seconds.
"""

import argparse
import contextlib
import random
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Select, delete, select, update
from sqlalchemy.orm import Session

from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.jobs import claim_next, process, sweep
from tests.support.phases import main_phase
from tests.support.postgres import postgres_server
from tests.support.scored import make_scored
from tests.support.services import in_full
from vocboard.app import rate_limits
from vocboard.app.accounts.models import Role, User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import Challenge, Freeze
from vocboard.app.challenges.phases import check_accepting, lock_to_change
from vocboard.app.challenges.queries import challenge_as_it_is, challenge_by_slug, challenge_with_phases, lock_challenge
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, ServiceError
from vocboard.app.intake.submitting import lock_submitter
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.jobs.service import LostClaimError
from vocboard.app.leaderboards import freezing
from vocboard.app.organising import bans
from vocboard.app.organising import moderation as bulk
from vocboard.app.participating import publishing, teams
from vocboard.app.participating.leaving import Naming, delete_account
from vocboard.app.participating.withdrawing import withdraw
from vocboard.app.rescores.service import evaluate_again
from vocboard.app.settings import Settings
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import State, Submission, Uploaded
from vocboard.app.teams.models import TeamRole
from vocboard.app.teams.queries import lock_team, locked_team_of, members_of, team_of
from vocboard.evaluator.editions import load
from vocboard.migrations import upgrade
from vocboard.worker import evaluation
from vocboard.worker.work import work_next

SITE = "https://voc.example.org"
PEOPLE, METHODS, SUBMISSIONS = 4, 2, 24
THREADS = 8


@dataclass
class Outcome:
    """What happened.

    Attributes:
        done: actions that were done, and that the server refused, by name.
        errors: all other errors, deadlocks among them: nothing is retried here.
    """

    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


class World:
    """A challenge; if it is frozen, results that were promised in time still come."""

    def __init__(self, database: Database, directory: Path, *, is_frozen: bool) -> None:
        self.directory = directory
        self.database = database
        with database.writing() as session:
            self.organisers = [make_organiser(session), make_user(session, role=Role.ADMINISTRATOR)]
            challenge = make_challenge(session, organiser=self.organisers[0], quota_count=1000)
            self.slug, self.challenge_id = challenge.slug, challenge.id
            self.people = [make_user(session) for _ in range(PEOPLE)]
            for number in range(SUBMISSIONS):
                self._add(session, self.people[number % PEOPLE], challenge, number)
            if is_frozen:
                challenge.main_phase.freeze, challenge.main_phase.freezes_at = Freeze.DATE, now() + timedelta(seconds=1)

    def _add(self, session: Session, person: User, challenge: Challenge, number: int) -> None:
        sha256 = f"{uuid.uuid4().int:064x}"
        make_scored(session, challenge, person, f"Method {number % METHODS}", archive_sha256=sha256)

    def challenge(self, session: Session, viewer: User) -> Challenge:
        found = challenge_by_slug(session, self.slug, viewer)
        assert found is not None
        return found[0]

    def _of_challenge(self, *columns: Any) -> Select[*tuple[Any, ...]]:
        return select(*columns).where(Submission.challenge_id == self.challenge_id)

    def submission_ids(self, chance: random.Random, count: int) -> list[uuid.UUID]:
        with self.database.reading() as session:
            ids = session.scalars(self._of_challenge(Submission.id).where(Submission.state != State.WITHDRAWN)).all()
        return chance.sample(ids, min(count, len(ids)))

    def own(self, chance: random.Random) -> tuple[uuid.UUID, User]:
        with self.database.reading() as session:
            rows = session.execute(self._of_challenge(Submission.id, Submission.user_id)).all()
        submission_id, user_id = chance.choice(rows)
        owner = next((person for person in self.people if person.id == user_id), None)
        if owner is None:
            raise ConflictError("The account was deleted.")
        return submission_id, owner

    def moderate(self, chance: random.Random) -> None:
        user, ids = chance.choice(self.organisers), self.submission_ids(chance, 8)
        with self.database.writing() as session:
            bulk.act(
                session,
                challenge=self.challenge(session, user),
                user=user,
                action=chance.choice(list(bulk.Action)),
                submission_ids=ids,
                reason="A reason",
                site=SITE,
            )

    def ban(self, chance: random.Random) -> None:
        user, person = chance.choice(self.organisers), chance.choice(self.people)
        with self.database.writing() as session:
            challenge = self.challenge(session, user)
            if chance.random() < 0.5:
                results = chance.choice(list(bans.Results))
                given = {"challenge": challenge, "person": person, "user": user, "site": SITE}
                bans.ban(session, **given, reason="A reason", results=results)  # type: ignore[arg-type]
            else:
                bans.lift_ban(session, challenge=challenge, person=person, user=user, site=SITE)

    def publish(self, chance: random.Random) -> None:
        submission_id, user = self.own(chance)
        with self.database.writing() as session:
            publishing.publish(session, submission_id=submission_id, user=user, replace=chance.random() < 0.8)

    def unpublish(self, chance: random.Random) -> None:
        submission_id, user = self.own(chance)
        with self.database.writing() as session:
            publishing.unpublish(session, submission_id=submission_id, user=user)

    def withdraw(self, chance: random.Random) -> None:
        submission_id, user = self.own(chance)
        with self.database.writing() as session:
            withdraw(session, submission_id=submission_id, user=user)
        with self.database.writing() as session:  # a new one in its place, with the locks of an upload
            lock_submitter(session, user)
            locked_team_of(session, session.get_one(Challenge, self.challenge_id), user)
            challenge = challenge_as_it_is(session, self.challenge_id)
            check_accepting(session, challenge, at=now())
            self._add(session, user, challenge, chance.randrange(METHODS))

    def join_team(self, chance: random.Random) -> None:
        """Join the team of another person, with or without all own results; it is founded if there is none."""
        user, other = chance.sample(self.people, 2)
        with self.database.writing() as session:
            team = team_of(session, self.challenge_id, other)
            if team is None or not team.name:
                challenge = challenge_with_phases(session, self.challenge_id)
                team = teams.create(session, challenge=challenge, user=other, name=uuid.uuid4().hex)
        with self.database.writing() as session:
            owners = [one.user for one in members_of(session, team.id) if one.role is TeamRole.OWNER]
            if not owners:
                raise ConflictError("It has joined another team meanwhile.")
            session.execute(delete(rate_limits.Attempt))
            _, token = teams.invite(session, team_id=team.id, user=owners[0], site=SITE)
        with self.database.writing() as session:
            teams.accept(session, token=token, user=user, bring_team=chance.random() < 0.5)

    def leave_team(self, chance: random.Random) -> None:
        user = chance.choice(self.people)
        with self.database.writing() as session:
            team = team_of(session, self.challenge_id, user)
            if team is None:
                raise ConflictError("No team.")
            lock_team(session, team.id)
            members = members_of(session, team.id)
            if user.id not in {member.user_id for member in members}:
                raise ConflictError("No longer.")
            for member in members:
                member.role = TeamRole.OWNER
            teams.remove(session, team_id=team.id, user=user, user_id=chance.choice(members).user_id)

    def delete_account(self, chance: random.Random) -> None:
        """Delete an account; another person comes in its place, with a submission."""
        number = chance.randrange(len(self.people))
        person, naming = self.people[number], chance.choice(list(Naming))
        with self.database.writing() as session:
            delete_account(
                session, user=person, naming=naming, settings=Settings(data_directory=self.directory), actor=person
            )
        with self.database.writing() as session:
            new = make_user(session)
            challenge = challenge_as_it_is(session, self.challenge_id)
            check_accepting(session, challenge, at=now())
            self._add(session, new, challenge, chance.randrange(METHODS))
        self.people[number] = new

    def evaluate_again(self, chance: random.Random) -> None:
        [submission_id] = self.submission_ids(chance, 1)
        with self.database.writing() as session:
            found, rescore = evaluate_again(session, submission_id=submission_id, user=chance.choice(self.organisers))
            if rescore is None:
                found.publish_when_scored = chance.random() < 0.8
            else:
                raise ConflictError("Only failed ones, here.")

    def apply_rescore(self, _chance: random.Random) -> None:
        """Change all submissions as `app.rescores.switch.apply` does."""
        with self.database.writing() as session:
            lock_challenge(session, self.challenge_id)
            freezing.freeze_due(session, challenge_as_it_is(session, self.challenge_id))
            change = update(Submission).where(Submission.challenge_id == self.challenge_id)
            session.execute(change.values(current_evaluation_id=Submission.current_evaluation_id))

    def edit(self, chance: random.Random) -> None:
        user = chance.choice(self.organisers)
        with self.database.writing() as session:
            challenge = self.challenge(session, user)
            lock_to_change(session, challenge)
            freezing.freeze_due(session, challenge)
            jobs.add_again(session, Kind.FREEZE, challenge.main_phase.id)  # as if its date had moved
            audit.record(session, actor=user, action="challenge.change", subject=challenge, details={})

    def look(self, _chance: random.Random) -> None:
        with self.database.writing() as session:
            freezing.freeze_due(session, challenge_with_phases(session, self.challenge_id))

    def work(self, chance: random.Random) -> None:
        """Claim a submission as a worker does, and finish it, fail it or die."""
        claim = claim_next(self.database, Kind.EVALUATION, lease=timedelta(seconds=chance.choice([-1, 60])))
        ending = chance.random()
        if claim is None or ending < 0.3:
            return
        with contextlib.suppress(LostClaimError), self.database.writing() as session:
            if ending < 0.5:
                queue.fail(session, claim, failure="Failed", detail="At random")
                return
            scoring_id = main_phase(session, self.challenge_id).current_scoring_id
            assert scoring_id is not None
            uploaded = Uploaded("0" * 64, None, None, None, True)
            work = evaluation.Work(claim.key, uploaded, load("VOC2012"), scoring_id, "1" * 64)
            _, is_promised = evaluation._finish(session, claim, work)
            if is_promised:
                publishing.publish_if_promised(session, claim.key)

    def sweep(self, _chance: random.Random) -> None:
        sweep(self.database, Settings(data_directory=self.directory))

    def freeze(self, _chance: random.Random) -> None:
        """Freeze as a worker does."""
        work_next(process(self.database, None, Settings(data_directory=self.directory), Kind.FREEZE))


WEIGHTS: Mapping[Callable[[World, random.Random], None], int] = {
    World.moderate: 6,
    World.publish: 6,
    World.work: 6,
    World.evaluate_again: 4,
    World.sweep: 3,
    World.freeze: 3,
    World.unpublish: 2,
    World.withdraw: 2,
    World.ban: 2,
    World.join_team: 3,
    World.leave_team: 3,
    World.delete_account: 1,
    World.apply_rescore: 1,
    World.edit: 1,
    World.look: 1,
}


def run(url: str, *, seconds: float, seed: int = 0) -> Outcome:
    """Do all of it at random in several threads, on an empty migrated PostgreSQL database."""
    outcome = Outcome()
    with closing(Database(url)) as database, tempfile.TemporaryDirectory() as directory:
        # The lock of a frozen leaderboard lets one transaction at a time change anything, which hides other orders.
        worlds = [World(database, Path(directory), is_frozen=is_frozen) for is_frozen in (True, False, False)]
        ends_at = time.monotonic() + seconds

        def act(number: int) -> None:
            chance = random.Random(1000 * seed + number)
            while time.monotonic() < ends_at:
                [action] = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
                try:
                    action(chance.choice(worlds), chance)
                    outcome.done[action.__name__] += 1
                except ServiceError:
                    outcome.refused[action.__name__] += 1
                except Exception as error:
                    outcome.errors.append(f"{action.__name__}: {type(error).__name__}: {error}")

        threads = [threading.Thread(target=act, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return outcome


def main() -> int:
    """Run on a database server of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with postgres_server() as server:
        url = in_full(server.create_database())
        upgrade(url)
        outcome = run(url, seconds=arguments.seconds, seed=arguments.seed)
    for name in sorted(outcome.done | outcome.refused):
        print(f"{name:15} {outcome.done[name]:7,} done {outcome.refused[name]:7,} refused")
    print(f"{len(outcome.errors)} errors")
    for error in outcome.errors[:5]:
        print(error)
    return 1 if outcome.errors else 0


if __name__ == "__main__":
    sys.exit(main())
