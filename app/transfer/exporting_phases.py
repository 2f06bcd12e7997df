"""Exporting what belongs to phases: their people, leaderboards and frozen leaderboards, and applied re-scores."""

import gzip
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from vocboard.app.challenges import phase_people
from vocboard.app.challenges.ground_truth import current_truth
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, GroundTruthVersion, Scoring
from vocboard.app.challenges.phases import Phase, phase_with_id, phases_of
from vocboard.app.challenges.queries import image_sets_of
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.leaderboards import export as leaderboard_export
from vocboard.app.leaderboards.board import Board, Part
from vocboard.app.leaderboards.models import FrozenLeaderboard, Rescore, RescoreState
from vocboard.app.leaderboards.reported import reported_in
from vocboard.app.leaderboards.service import board
from vocboard.app.submissions.models import Submission
from vocboard.app.transfer import records
from vocboard.app.transfer.files import write_lines
from vocboard.app.transfer.phase_records import (
    AdmissionRecord,
    CorrectionRecord,
    ExtraQuotaRecord,
    FrozenRecord,
    PhaseRecord,
    ReportedRecord,
    TruthRecord,
)
from vocboard.app.transfer.record_types import same_fields

_IS_APPLIED = Rescore.state == RescoreState.APPLIED


def further_phases(session: Session, challenge: Challenge) -> list[PhaseRecord]:
    """Return the phases other than the main one, in the order in which they were added."""
    return [_phase(session, phase_with_id(challenge, row.id)) for row in challenge.phases if row.key != MAIN_PHASE]


def ground_truth_versions(session: Session, challenge: Challenge) -> list[TruthRecord]:
    """Return the versions that anything was scored with, or is."""
    used = exists().where(Evaluation.scoring_id == Scoring.id, Scoring.ground_truth_version_id == GroundTruthVersion.id)
    rescored = exists().where(Rescore.ground_truth_version_id == GroundTruthVersion.id, _IS_APPLIED)
    keys = {row.id: row.key for row in challenge.phases}
    versions = {
        version.number: keys[version.phase_id]
        for version in session.scalars(
            select(GroundTruthVersion).where(GroundTruthVersion.challenge_id == challenge.id, used | rescored)
        )
    }
    for phase in phases_of(challenge):
        if phase.has_own_truth and (current := current_truth(session, phase)) is not None:
            versions[current.number] = phase.key
    return [TruthRecord(number=number, phase=phase) for number, phase in sorted(versions.items())]


def write_phases(session: Session, challenge: Challenge, directory: Path, *, at: datetime) -> None:
    """Write everything that belongs to phases, and their leaderboards as they are shown.

    Args:
        challenge: with its competitions and phases.
        at: an instant up to which leaderboards have been frozen.
    """
    write_lines(
        directory / records.ADMISSIONS,
        (
            AdmissionRecord(phase=one.phase.key, **same_fields(AdmissionRecord, one))
            for one in phase_people.admissions(session, challenge)
        ),
    )
    write_lines(
        directory / records.EXTRA_QUOTAS,
        (
            ExtraQuotaRecord(phase=one.phase.key, **same_fields(ExtraQuotaRecord, one))
            for one in reversed(phase_people.extra_quotas(session, challenge))
        ),
    )
    write_lines(directory / records.FROZEN, _frozen(session, challenge))
    write_lines(directory / records.CORRECTIONS, _corrections(session, challenge))
    keys = {row.id: row.key for row in challenge.phases}
    write_lines(
        directory / records.REPORTED,
        (
            ReportedRecord(phase=keys[one.phase_id], **same_fields(ReportedRecord, one))
            for one in reported_in(session, challenge)
        ),
    )
    (directory / "leaderboards").mkdir()
    for phase in phases_of(challenge):
        prefix = "" if phase.is_main else f"{phase.key}-"
        truth = current_truth(session, phase) if phase.has_own_truth else None
        if truth is not None and (packed := image_sets_of(session, truth.id)):
            (directory / f"{prefix}image-sets.json").write_bytes(gzip.decompress(packed))
        for key in phase.competitions:
            path = directory / "leaderboards" / f"{prefix}{key}"
            _write_board(board(session, challenge, phase, key, at=at), path)
            if phase.is_frozen(at):
                later = board(session, challenge, phase, key, part=Part.LATER, at=at)
                _write_board(later, path.with_name(f"{path.name}-later"))


def _phase(session: Session, phase: Phase) -> PhaseRecord:
    truth = current_truth(session, phase) if phase.has_own_truth else None
    return PhaseRecord(
        key=phase.key,
        title=phase.title,
        rules=phase.rules,
        image_set=phase.image_set,
        has_own_truth=phase.has_own_truth,
        ground_truth_version=truth.number if truth else None,
    )


def _frozen(session: Session, challenge: Challenge) -> Iterator[FrozenRecord]:
    query = select(FrozenLeaderboard).where(FrozenLeaderboard.challenge_id == challenge.id)
    keys = {row.id: row.key for row in challenge.phases}
    present = {(row.id, key) for row in challenge.phases for key in row.competition_keys}
    for row in session.scalars(query.order_by(FrozenLeaderboard.created_at, FrozenLeaderboard.id)):
        if (row.phase_id, row.competition) not in present:
            continue  # of a competition that was removed
        yield FrozenRecord(
            phase=keys[row.phase_id],
            **same_fields(FrozenRecord, row) | {"content": _exported(row.content)},
        )


_LINKED = frozenset({"result", "method_id", "paper_url", "code_url"})


def _exported(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a frozen leaderboard shows, without what leads to its statistics and its methods.

    Statistics are not exported; methods have other ids on another server, and bring their links.
    """
    entries = [{name: value for name, value in entry.items() if name not in _LINKED} for entry in content["entries"]]
    return {**{name: value for name, value in content.items() if name != "statistics"}, "entries": entries}


def _corrections(session: Session, challenge: Challenge) -> Iterator[CorrectionRecord]:
    query = (
        select(Rescore, GroundTruthVersion.number)
        .join(GroundTruthVersion, GroundTruthVersion.id == Rescore.ground_truth_version_id)
        .outerjoin(Submission, Submission.id == Rescore.submission_id)
        # Rehearsals are not exported.
        .where(Rescore.challenge_id == challenge.id, _IS_APPLIED, Submission.is_rehearsal.is_not(True))
        .order_by(Rescore.finished_at, Rescore.id)
    )
    for row, number in session.execute(query):
        if row.finished_at is not None and row.evaluator_version is not None:
            yield CorrectionRecord(
                **same_fields(CorrectionRecord, row),
                applied_at=row.finished_at,
                ground_truth_version=number,
                submission=row.submission_id,
            )


def _write_board(shown: Board, path: Path) -> None:
    path.with_name(f"{path.name}.csv").write_text(leaderboard_export.as_csv(shown), encoding="utf-8")
    path.with_name(f"{path.name}.tex").write_text(leaderboard_export.as_latex(shown), encoding="utf-8")
