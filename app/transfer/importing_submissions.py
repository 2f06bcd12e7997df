"""Importing submissions: their methods, entries, evaluations and scores, as the other server computed them."""

import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert, update
from sqlalchemy.orm import Session

from vocboard.app.database import Base, now
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, ConfusionShares, Curve, Evaluation, Measure
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry, SubmissionPerson
from vocboard.app.teams.models import Team, TeamMember, TeamRole
from vocboard.app.transfer.importing_phases import ScoredWith
from vocboard.app.transfer.records import EvaluationRecord, SubmissionRecord, TeamRecord

WAITING = frozenset({State.QUEUED, State.EVALUATING})
NOT_EVALUATED = "This submission had not been evaluated when its challenge was exported."
FAILED_ELSEWHERE = "It failed on the server that the challenge was imported from, whose organisers see why."

_Rows = defaultdict[type[Base], list[dict[str, Any]]]


@dataclass(slots=True)
class SubmissionImporter:
    """Adds submissions to an imported challenge.

    Attributes:
        phases: their ids, by key.
        people: ids of accounts, by the ids of people in the archive.
        versions: what evaluations refer to.
        is_taken: whether there is a submission with this id here.
        members: people in the archive who are in a team here.
        teams: ids of teams, by their ids in the archive, and of people who take part alone by theirs.
        methods: ids of methods, by team and name.
    """

    session: Session
    challenge_id: uuid.UUID
    phases: Mapping[str, uuid.UUID]
    people: Mapping[uuid.UUID, uuid.UUID]
    versions: ScoredWith
    is_taken: Callable[[uuid.UUID], bool]
    members: set[uuid.UUID] = field(default_factory=set)
    teams: dict[uuid.UUID, uuid.UUID] = field(default_factory=dict)
    methods: dict[tuple[uuid.UUID, str], uuid.UUID] = field(default_factory=dict)

    def add_teams(self, teams: Sequence[TeamRecord]) -> None:
        """Add the named teams; the others come with their submissions."""
        for one in teams:
            self._add_team(one.id, one.name, [person for person in one.members if person in self.people])

    def _add_team(self, key: uuid.UUID, name: str, members: Sequence[uuid.UUID]) -> uuid.UUID:
        team_id = self.teams[key] = uuid.uuid4()
        self.session.execute(
            insert(Team).values(id=team_id, created_at=now(), challenge_id=self.challenge_id, name=name)
        )
        for position, person in enumerate(members):
            role = TeamRole.MEMBER if position else TeamRole.OWNER
            member = {"challenge_id": self.challenge_id, "user_id": self.people[person], "team_id": team_id}
            self.session.execute(insert(TeamMember).values(**member, role=role, joined_at=now()))
        self.members.update(members)
        return team_id

    def _team(self, one: SubmissionRecord) -> uuid.UUID:
        key = one.team or one.person
        if key in self.teams:
            return self.teams[key]
        return self._add_team(key, "", [] if one.person in self.members else [one.person])

    def add(self, one: SubmissionRecord) -> uuid.UUID:
        """Add a submission with its scores, and return its id here."""
        user_id = self.people[one.person]
        # Its own id, so that citations and addresses stay, unless it is taken.
        submission_id = uuid.uuid4() if self.is_taken(one.id) else one.id
        self._add_submission(submission_id, user_id, one)
        if one.evaluation is not None and one.state not in WAITING:
            scoring_id = self.versions.scoring_id(one.evaluation.ground_truth_version, one.evaluation.edition_version)
            _add_evaluation(self.session, submission_id, scoring_id, one.archive_sha256, one.evaluation)
        return submission_id

    def _method(self, team_id: uuid.UUID, one: SubmissionRecord) -> uuid.UUID:
        key = team_id, one.method
        if key not in self.methods:
            self.methods[key] = uuid.uuid4()
            values = {"id": self.methods[key], "challenge_id": self.challenge_id, "team_id": team_id}
            self.session.execute(insert(Method).values(**values, **self._described(one)))
        return self.methods[key]

    def _described(self, one: SubmissionRecord) -> dict[str, Any]:
        return {
            "name": one.method,
            "created_at": one.created_at,
            "paper_url": one.paper_url,
            "code_url": one.code_url,
        }

    def _add_submission(self, submission_id: uuid.UUID, user_id: uuid.UUID, one: SubmissionRecord) -> None:
        was_waiting, is_technical = one.state in WAITING, one.has_technical_reason
        columns = Submission.__table__.columns  # `has_archive` was checked: the import has the archive, with this hash
        same = {name: getattr(one, name) for name in SubmissionRecord.model_fields if name in columns}
        if one.state is State.DISQUALIFIED and one.disqualified_at is None:  # as in format 3 and before
            same["disqualified_at"] = now()
        team_id = self._team(one)
        self.session.execute(
            insert(Submission).values(
                same
                | {
                    "id": submission_id,
                    "queued_at": one.created_at,
                    "challenge_id": self.challenge_id,
                    "phase_id": self.phases[one.phase],
                    "user_id": user_id,
                    "team_id": team_id,
                    "method_id": self._method(team_id, one),
                    "warnings": [warning.model_dump(mode="json") for warning in one.warnings],
                    "state": State.FAILED if was_waiting else one.state,
                    "failure": NOT_EVALUATED if was_waiting else one.failure,
                    # Without one, organisers would have removed it from frozen leaderboards.
                    "failure_detail": NOT_EVALUATED if was_waiting else FAILED_ELSEWHERE if is_technical else None,
                    "finished_at": one.finished_at or now(),
                }
            )
        )
        people = [{"submission_id": submission_id, "user_id": self.people[each]} for each in one.people or [one.person]]
        self.session.execute(insert(SubmissionPerson), people)
        entries = [
            {"submission_id": submission_id, "position": position, **entry.model_dump()}
            for position, entry in enumerate(one.entries)
        ]
        self.session.execute(insert(SubmissionEntry), entries)


def _add_evaluation(
    session: Session, submission_id: uuid.UUID, scoring_id: uuid.UUID, archive_sha256: str, one: EvaluationRecord
) -> None:
    evaluation_id = uuid.uuid4()
    rows: _Rows = defaultdict(list)
    rows[Evaluation].append(
        {
            "id": evaluation_id,
            "submission_id": submission_id,
            "scoring_id": scoring_id,
            "archive_sha256": archive_sha256,
            **one.model_dump(exclude={"results", "ground_truth_version", "edition_version"}),
        }
    )
    for position, result in enumerate(one.results):
        result_id = uuid.uuid4()
        rows[CompetitionResult].append(
            {
                "id": result_id,
                "evaluation_id": evaluation_id,
                "position": position,
                **result.model_dump(exclude={"measures", "curves", "shares", "steps"}, mode="json"),
            }
        )
        for number, measure in enumerate(result.measures):
            measure_id = uuid.uuid4()
            dumped = measure.model_dump(exclude={"per_class"}, mode="json")
            rows[Measure].append({"id": measure_id, "result_id": result_id, "position": number, **dumped})
            rows[ClassScore] += [
                {"measure_id": measure_id, "class_name": name, "position": place, "value": value}
                for place, (name, value) in enumerate(measure.per_class.items())
            ]
        rows[Curve] += [
            {"result_id": result_id, "class_name": name, "position": place, **curve.model_dump(mode="json")}
            for place, (name, curve) in enumerate(result.curves.items())
        ]
        if result.shares is not None:
            rows[ConfusionShares].append({"result_id": result_id, "shares": result.shares, "steps": result.steps})
    for table, values in rows.items():
        if values:
            session.execute(insert(table), values)
    session.execute(
        update(Submission)
        .where(Submission.id == submission_id)
        .values(current_evaluation_id=evaluation_id)
        .execution_options(synchronize_session=False)
    )
