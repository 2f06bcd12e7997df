"""Importing submissions: their methods, entries, evaluations and scores, as the other server computed them."""

import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert, update
from sqlalchemy.orm import Session

from vocboard.app.database import Base, now
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, ConfusionShares, Curve, Evaluation, Measure
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry
from vocboard.app.transfer.importing_phases import ScoredWith
from vocboard.app.transfer.records import EvaluationRecord, SubmissionRecord

WAITING = frozenset({State.QUEUED, State.EVALUATING})
NOT_EVALUATED = "This submission had not been evaluated when its challenge was exported."

_Rows = defaultdict[type[Base], list[dict[str, Any]]]


@dataclass(slots=True)
class SubmissionImporter:
    """Adds submissions to an imported challenge.

    Attributes:
        phases: their ids, by key.
        people: ids of accounts, by the ids of people in the archive.
        versions: what evaluations refer to.
        is_taken: whether there is a submission with this id here.
        methods: ids of methods, by account and name.
    """

    session: Session
    challenge_id: uuid.UUID
    phases: Mapping[str, uuid.UUID]
    people: Mapping[uuid.UUID, uuid.UUID]
    versions: ScoredWith
    is_taken: Callable[[uuid.UUID], bool]
    methods: dict[tuple[uuid.UUID, str], uuid.UUID] = field(default_factory=dict)

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

    def _method(self, user_id: uuid.UUID, one: SubmissionRecord) -> uuid.UUID:
        key = user_id, one.method
        if key not in self.methods:
            self.methods[key] = uuid.uuid4()
            values = {"id": self.methods[key], "challenge_id": self.challenge_id, "user_id": user_id}
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
        was_waiting = one.state in WAITING
        columns = Submission.__table__.columns  # `has_archive` was checked: the import has the archive, with this hash
        same = {name: getattr(one, name) for name in SubmissionRecord.model_fields if name in columns}
        if one.state is State.DISQUALIFIED and one.disqualified_at is None:  # as in format 3 and before
            same["disqualified_at"] = now()
        self.session.execute(
            insert(Submission).values(
                same
                | {
                    "id": submission_id,
                    "queued_at": one.created_at,
                    "challenge_id": self.challenge_id,
                    "phase_id": self.phases[one.phase],
                    "user_id": user_id,
                    "method_id": self._method(user_id, one),
                    "warnings": [warning.model_dump(mode="json") for warning in one.warnings],
                    "state": State.FAILED if was_waiting else one.state,
                    "failure": NOT_EVALUATED if was_waiting else one.failure,
                    "finished_at": one.finished_at or now(),
                }
            )
        )
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
