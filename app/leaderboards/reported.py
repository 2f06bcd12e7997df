"""Results that were not scored on this server: baselines, and scores that papers report.

Organisers add them to a leaderboard, which shows them without a rank. Nothing else of it depends on them. They are not
part of the copy of a frozen leaderboard, which shows the current ones.
"""

import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, lock_to_change, phase_named, phase_with_id
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.forms import FieldChecks, checked_link
from vocboard.app.leaderboards import queries
from vocboard.app.leaderboards.models import ReportedKind, ReportedResult
from vocboard.app.leaderboards.service import columns, rules_of
from vocboard.evaluator.editions import Competition

MAX_REPORTED = 50  # of a leaderboard
MAX_METHOD_LENGTH, MAX_NOTE_LENGTH = 100, 200
DECIMALS = 8  # of fractions that are stored
_DOI = re.compile(r"(?:doi:\s*)?(10\.\d{4,9}/\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Report:
    """What organisers say of a result.

    Attributes:
        reference: a DOI or an http(s) address; may be empty unless it is from a paper.
        note: where in the source; may be empty.
        mean: a fraction; None if it was not reported.
        per_class: fractions by class, for those that were reported.
    """

    kind: ReportedKind
    method: str
    reference: str
    note: str
    mean: float | None
    per_class: Mapping[str, float]

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a `ReportedResult`."""
        return {
            "kind": self.kind,
            "method": self.method,
            "reference": self.reference,
            "note": self.note,
            "mean": self.mean,
            "per_class": dict(self.per_class),
        }


def address_of(reference: str) -> str:
    """Return the address of a source; of anything but a DOI, what was typed.

    >>> address_of("doi:10.1007/s11263-009-0275-4"), address_of("https://lab.example/paper")
    ('https://doi.org/10.1007/s11263-009-0275-4', 'https://lab.example/paper')
    """
    found = _DOI.fullmatch(reference.strip())
    return f"https://doi.org/{found[1]}" if found else reference


def exact(fraction: float) -> str:
    """Return a fraction with as many decimals as it was reported with.

    >>> exact(0.537), exact(1.0), exact(0.00001)
    ('0.537', '1', '0.00001')
    """
    return f"{Decimal(repr(fraction)).normalize():f}"


def exact_percent(fraction: float) -> str:
    """Return the same in per cent.

    >>> exact_percent(0.537), exact_percent(1.0), exact_percent(0.0)
    ('53.7', '100', '0')
    """
    return f"{(Decimal(repr(fraction)) * 100).normalize():f}"


def checked(report: Report, classes: Collection[str]) -> Report:
    """Check what organisers say of a result.

    Args:
        classes: those that the leaderboard scores.

    Returns:
        The same with tidied texts, and scores of at most `DECIMALS` decimals.

    Raises:
        InvalidInputError: with all errors by field.
    """
    checks = FieldChecks()
    method = checks.line("method", report.method, max_length=MAX_METHOD_LENGTH, required=True)
    reference = checked_link(checks, "reference", address_of(report.reference))
    if report.kind is ReportedKind.PAPER and not reference:
        checks.fail("reference", "Give the DOI or the address of the paper.")
    note = checks.line("note", report.note, max_length=MAX_NOTE_LENGTH)
    if report.mean is None and not report.per_class:
        checks.fail("mean", "Give the mean, or the score of at least one class.")
    if report.mean is not None and not 0 <= report.mean <= 1:
        checks.fail("mean", "Give a fraction from 0 to 1.")
    for name, score in report.per_class.items():
        if name not in classes:
            checks.fail("per_class", f"The leaderboard has no class “{name[:60]}”.")
        elif not 0 <= score <= 1:
            checks.fail("per_class", f"Give a fraction from 0 to 1 for “{name}”.")
    checks.finish()
    return replace(
        report,
        method=method,
        reference=reference,
        note=note,
        mean=None if report.mean is None else round(report.mean, DECIMALS),
        per_class={name: round(score, DECIMALS) for name, score in report.per_class.items()},
    )


def reported_in(session: Session, challenge: Challenge) -> Sequence[ReportedResult]:
    """Return the reported results of all leaderboards that a challenge has, in the order in which they were added."""
    present = {(row.id, key) for row in challenge.phases for key in row.competition_keys}
    query = select(ReportedResult).where(ReportedResult.challenge_id == challenge.id)
    found = session.scalars(query.order_by(ReportedResult.created_at, ReportedResult.id))
    return [one for one in found if (one.phase_id, one.competition) in present]


def get(session: Session, challenge: Challenge, competition: str, reported_id: uuid.UUID) -> ReportedResult:
    """Return a reported result of a challenge's competition, in any phase.

    Raises:
        NotFoundError: the competition has no such result.
    """
    found = session.get(ReportedResult, reported_id)
    if found is None or (found.challenge_id, found.competition) != (challenge.id, competition):
        raise NotFoundError("There is no such reported result.")
    return found


def add(
    session: Session,
    *,
    challenge: Challenge,
    user: User,
    phase: Phase,
    competition: Competition,
    reports: Sequence[Report],
) -> list[ReportedResult]:
    """Add results to a leaderboard: all of them, or none.

    Args:
        challenge: from `get_organised`.
        competition: one of the phase.

    Raises:
        NotFoundError: the phase was just removed.
        ConflictError: the challenge is archived, or the leaderboard has as many as it may have.
        InvalidInputError: as `checked`.
    """
    lock_to_change(session, challenge)
    phase = phase_named(challenge, phase.key)  # another organiser may have removed it before the lock
    accepted = [checked(each, columns(competition)) for each in reports]
    if len(queries.reported(session, phase.id, competition.key)) + len(accepted) > MAX_REPORTED:
        raise ConflictError(f"A leaderboard may have {MAX_REPORTED} baselines and results from papers.")
    found = []
    for each in accepted:
        row = ReportedResult(
            challenge_id=challenge.id,
            phase_id=phase.id,
            competition=competition.key,
            **each.columns,
        )
        session.add(row)
        _record(session, challenge, user, "challenge.add_reported", row)
        found.append(row)
    return found


def change(
    session: Session, *, challenge: Challenge, user: User, competition: str, reported_id: uuid.UUID, report: Report
) -> ReportedResult:
    """Replace what is said of a result.

    Raises:
        NotFoundError: the competition has no such result.
        ConflictError: the challenge is archived.
        InvalidInputError: as `checked`.
    """
    lock_to_change(session, challenge)
    row = get(session, challenge, competition, reported_id)
    rules = rules_of(challenge, phase_with_id(challenge, row.phase_id), competition)
    accepted = checked(report, columns(rules))
    for name, value in accepted.columns.items():
        setattr(row, name, value)
    _record(session, challenge, user, "challenge.change_reported", row)
    return row


def remove(session: Session, *, challenge: Challenge, user: User, competition: str, reported_id: uuid.UUID) -> None:
    """Remove a result. Idempotent.

    Raises:
        NotFoundError: it is of another challenge or competition.
        ConflictError: the challenge is archived.
    """
    lock_to_change(session, challenge)
    if session.get(ReportedResult, reported_id) is None:
        return
    row = get(session, challenge, competition, reported_id)
    _record(session, challenge, user, "challenge.remove_reported", row)
    session.delete(row)
    session.flush()


def _record(session: Session, challenge: Challenge, user: User, action: str, row: ReportedResult) -> None:
    details = {
        "method": row.method,
        "competition": row.competition,
        "phase": phase_with_id(challenge, row.phase_id).key,
        "kind": row.kind.value,
        "reference": row.reference,
        "note": row.note,
        "mean": row.mean,
        "per_class": row.per_class,
    }
    audit.record(session, actor=user, action=action, subject=challenge, details=details)
