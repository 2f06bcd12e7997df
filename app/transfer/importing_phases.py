"""Importing what belongs to phases: their rules and people, frozen leaderboards, and applied re-scores."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import (
    Challenge,
    EditionVersion,
    ExtraQuota,
    GroundTruthVersion,
    PhaseAdmission,
    Scoring,
    TruthState,
)
from vocboard.app.evaluations.models import CompetitionResult, Evaluation
from vocboard.app.leaderboards import queries
from vocboard.app.leaderboards.entries import NO_LINKS, Entry, MethodLinks
from vocboard.app.leaderboards.models import FrozenLeaderboard, ReportedResult, Rescore, RescoreState
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.submissions.models import Submission
from vocboard.app.transfer import records
from vocboard.app.transfer.phase_records import (
    AdmissionRecord,
    CorrectionRecord,
    ExtraQuotaRecord,
    FrozenRecord,
    PhaseRecord,
    ReportedRecord,
    TruthRecord,
)
from vocboard.app.transfer.reading import lines_of, rules_at
from vocboard.app.transfer.records import EditionRecord

ORIGIN = "scored on another server"  # in place of the name of a ground truth's file


@dataclass(slots=True)
class ScoredWith:
    """Ground truth versions of the other server, and the scorings that evaluations against them belong to here.

    Attributes:
        versions: ids of the versions, by number.
        scorings: ids of scorings, by the numbers of the ground truth version and of the edition version.
    """

    session: Session
    challenge_id: uuid.UUID
    versions: Mapping[int, uuid.UUID]
    scorings: dict[tuple[int, int], uuid.UUID] = field(default_factory=dict)

    def scoring_id(self, ground_truth_version: int, edition_version: int) -> uuid.UUID:
        """Return a scoring, which is added when it is first asked for."""
        key = ground_truth_version, edition_version
        if key not in self.scorings:
            scoring = Scoring(
                challenge_id=self.challenge_id,
                ground_truth_version_id=self.versions[ground_truth_version],
                edition_version=edition_version,
            )
            self.session.add(scoring)
            self.session.flush()
            self.scorings[key] = scoring.id
        return self.scorings[key]


def add_edition_versions(session: Session, challenge: Challenge, versions: Sequence[EditionRecord]) -> None:
    """Add the versions of a custom edition."""
    for one in versions:
        session.execute(insert(EditionVersion).values(challenge_id=challenge.id, **one.model_dump()))


def add_phases(
    session: Session, challenge: Challenge, phases: Sequence[PhaseRecord], ids: Mapping[str, uuid.UUID], user: User
) -> None:
    """Add the phases other than the main one.

    Args:
        ids: by key.

    Raises:
        InvalidArchiveError: with everything that is wrong with the rules of one.
    """
    for phase in phases:
        with rules_at(f"phases.{phase.key}"):
            add_phase(
                session,
                challenge=challenge,
                user=user,
                key=phase.key,
                title=phase.title,
                rules=phase.rules,
                image_set=phase.image_set,
                has_own_truth=phase.has_own_truth,
                phase_id=ids[phase.key],
            )


def add_ground_truth_versions(
    session: Session, challenge_id: uuid.UUID, phases: Mapping[str, uuid.UUID], versions: Sequence[TruthRecord]
) -> ScoredWith:
    """Add what evaluations refer to, by version number; none of it becomes the current scoring of a phase.

    Args:
        phases: their ids, by key.
    """
    found = {}
    for one in versions:
        version = GroundTruthVersion(
            challenge_id=challenge_id,
            phase_id=phases[one.phase],
            number=one.number,
            file_name=ORIGIN,
            state=TruthState.ELSEWHERE,
        )
        session.add(version)
        session.flush()
        found[one.number] = version.id
    return ScoredWith(session, challenge_id, found)


def add_people_of_phases(session: Session, challenge: Challenge, path: Path) -> None:
    """Add admissions and extra quota: they are for addresses, whether or not these have accounts here."""
    for admission in lines_of(path, records.ADMISSIONS, AdmissionRecord):
        session.add(PhaseAdmission(phase_id=challenge.phase_row(admission.phase).id, email=admission.email))
    for quota in lines_of(path, records.EXTRA_QUOTAS, ExtraQuotaRecord):
        values = quota.model_dump(exclude={"phase"})
        session.add(ExtraQuota(phase_id=challenge.phase_row(quota.phase).id, **values))
        session.flush()  # one after the other, so that they are listed in the same order


def add_frozen_leaderboards(
    session: Session, challenge: Challenge, path: Path, submissions: Mapping[uuid.UUID, uuid.UUID]
) -> None:
    """Add the frozen leaderboards. They have statistics if live ones have, once the ground truth is on this server.

    Args:
        submissions: their ids here, by those in the archive.
    """
    for frozen in lines_of(path, records.FROZEN, FrozenRecord):
        content = frozen.content.model_dump(mode="json")
        entries = [Entry.from_json(entry) for entry in content["entries"]]
        results = _current_results(session, challenge, frozen.competition)
        phase_id = challenge.phase_row(frozen.phase).id
        links = {row.id: MethodLinks(*row[1:]) for row in queries.links(session, phase_id)}
        content["entries"] = [
            replace(
                entry,
                submission_id=submissions[entry.submission_id],
                result_id=results.get(submissions[entry.submission_id]),
                links=links.get(submissions[entry.submission_id], NO_LINKS),
            ).as_json()
            for entry in entries
        ]
        content["statistics"] = challenge.statistics
        session.execute(
            insert(FrozenLeaderboard).values(
                challenge_id=challenge.id,
                phase_id=phase_id,
                competition=frozen.competition,
                frozen_at=frozen.frozen_at,
                is_final=frozen.is_final,
                content=content,
            )
        )


def _current_results(session: Session, challenge: Challenge, competition: str) -> Mapping[uuid.UUID, uuid.UUID]:
    """Return the results of the challenge's submissions in a competition, by submission.

    A frozen leaderboard may be of an earlier evaluation, with other scores. Workers notice, and compute no statistics.
    """
    query = (
        select(Submission.id, CompetitionResult.id)
        .join(Evaluation, Evaluation.id == Submission.current_evaluation_id)
        .join(CompetitionResult, CompetitionResult.evaluation_id == Evaluation.id)
        .where(Submission.challenge_id == challenge.id, CompetitionResult.competition == competition)
    )
    return {submission: result for submission, result in session.execute(query)}  # noqa: C416  # rows are not tuples


def add_corrections(
    session: Session,
    challenge: Challenge,
    path: Path,
    *,
    versions: Mapping[int, uuid.UUID],
    submissions: Mapping[uuid.UUID, uuid.UUID],
) -> None:
    """Add the re-scores that were applied, which leaderboards announce.

    Args:
        submissions: their ids here, by those in the archive.
    """
    for one in lines_of(path, records.CORRECTIONS, CorrectionRecord):
        is_taken = session.scalar(select(Rescore.id).where(Rescore.id == one.id)) is not None
        session.execute(
            insert(Rescore).values(
                id=uuid.uuid4() if is_taken else one.id,
                created_at=one.applied_at,
                challenge_id=challenge.id,
                ground_truth_version_id=versions[one.ground_truth_version],
                submission_id=None if one.submission is None else submissions[one.submission],
                reason=one.reason,
                state=RescoreState.APPLIED,
                finished_at=one.applied_at,
                evaluator_version=one.evaluator_version,
                edition_version=one.edition_version,
                edition_changes=None
                if one.edition_changes is None
                else [change.model_dump() for change in one.edition_changes],
            )
        )


def add_reported_results(session: Session, challenge: Challenge, path: Path) -> None:
    """Add the baselines and the results that were not scored on the other server either."""
    for one in lines_of(path, records.REPORTED, ReportedRecord):
        phase_id = challenge.phase_row(one.phase).id
        session.add(ReportedResult(challenge_id=challenge.id, phase_id=phase_id, **one.model_dump(exclude={"phase"})))
        session.flush()  # one after the other, so that they are listed in the same order
