"""What people do to be admitted to a challenge: ask its organisers, and accept its terms."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts.models import User
from vocboard.app.accounts.registration import require_confirmed
from vocboard.app.audit import service as audit
from vocboard.app.challenges import admission_requests, phase_people, terms
from vocboard.app.challenges.bans import require_not_banned
from vocboard.app.challenges.models import (
    Admission,
    AdmissionRequest,
    Challenge,
    QuestionKind,
    RequestState,
    TermsAcceptance,
)
from vocboard.app.challenges.phases import Phase, lock_to_change, phase_named
from vocboard.app.challenges.rules import AdmissionQuestion, rules_of
from vocboard.app.errors import ConflictError, InvalidInputError, NotFoundError
from vocboard.app.forms import FieldChecks
from vocboard.app.participating.locking import lock_person

MAX_LINE_LENGTH, MAX_TEXT_LENGTH = 300, 5_000


def ask(
    session: Session, *, challenge: Challenge, phase_key: str, user: User, answers: Mapping[str, str | bool]
) -> AdmissionRequest:
    """Ask the organisers to be admitted to a phase. They are told.

    Args:
        challenge: from `get_visible`.
        answers: by question, as it is asked.

    Raises:
        NotFoundError: there is no such phase.
        InvalidInputError: with everything that is wrong: fields are `answer-1`, `answer-2`, ..., or `answers`.
        ConflictError: nobody can ask to be admitted to the phase, or the person is admitted or has asked already.
        ForbiddenError: the person is banned, or the address is not confirmed.
        LimitedError: the person has asked too often.
    """
    require_confirmed(user)
    lock_person(session, user.id)
    lock_to_change(session, challenge)
    phase = phase_named(challenge, phase_key)
    require_not_banned(session, user_id=user.id, challenge_id=challenge.id)
    if phase.rules.admission is not Admission.REQUEST:
        raise ConflictError(f"Nobody has to ask to take part in the phase “{phase.title}”.")
    if phase_people.is_admitted(session, phase, user):
        raise ConflictError("You are admitted already.")
    earlier = _own(session, phase, user)
    if earlier is not None and earlier.state is RequestState.OPEN:
        raise ConflictError("You have asked already. Withdraw that request first to ask again.")
    if earlier is not None and earlier.state is RequestState.DECLINED:
        raise ConflictError("The organisers have declined your request. Ask them a question if you think it is wrong.")
    given = _checked(rules_of(challenge).admission_questions, answers)
    rate_limits.spend(session, {rate_limits.REQUESTS_BY_PERSON: str(user.id)})
    if earlier is not None:  # was admitted, and then no more
        session.delete(earlier)
        session.flush()
    request = AdmissionRequest(phase_id=phase.id, user_id=user.id, answers=given)
    session.add(request)
    details = {"phase": phase.key}
    audit.record(session, actor=user, action="phase.ask_admission", subject=challenge, details=details)
    admission_requests.tell_organisers(session, challenge)
    return request


def withdraw(session: Session, *, challenge: Challenge, phase_key: str, user: User) -> None:
    """Withdraw an open request. Idempotent.

    Args:
        challenge: from `get_visible`.

    Raises:
        NotFoundError: there is no such phase.
        ConflictError: the request has been decided, or the challenge is archived.
    """
    phase = phase_named(challenge, phase_key)
    lock_person(session, user.id)
    lock_to_change(session, challenge)
    request = _own(session, phase, user)
    if request is None:
        return
    if request.state is not RequestState.OPEN:
        raise ConflictError("The organisers have decided on this request.")
    session.delete(request)
    details = {"phase": phase.key}
    audit.record(session, actor=user, action="phase.withdraw_request", subject=challenge, details=details)


def accept_terms(session: Session, *, challenge: Challenge, user: User, version: int) -> TermsAcceptance:
    """Accept the current terms of a challenge. Idempotent.

    Args:
        challenge: from `get_visible`.
        version: number of the terms that the person has read.

    Raises:
        NotFoundError: the challenge has no terms.
        ConflictError: these are not the current ones, or the challenge is archived.
        NotConfirmedError, NotApprovedError: the person may not submit.
    """
    require_confirmed(user)
    lock_person(session, user.id)
    lock_to_change(session, challenge)
    current = terms.current(session, challenge.id)
    if current is None:
        raise NotFoundError("The challenge has no terms.")
    if version != current.number:
        raise ConflictError(
            f"The terms have changed: the current version is {current.number}. Read it, then accept it."
        )
    earlier = terms.accepted(session, challenge.id, user)
    if earlier is not None and earlier.terms_id == current.id:
        return earlier
    acceptance = TermsAcceptance(terms=current, user_id=user.id)
    session.add(acceptance)
    session.flush()
    details = {"version": current.number}
    audit.record(session, actor=user, action="challenge.accept_terms", subject=challenge, details=details)
    return acceptance


def _own(session: Session, phase: Phase, user: User) -> AdmissionRequest | None:
    own = AdmissionRequest.phase_id == phase.id, AdmissionRequest.user_id == user.id
    return session.scalar(select(AdmissionRequest).where(*own).with_for_update())


def _checked(questions: Sequence[AdmissionQuestion], answers: Mapping[str, str | bool]) -> list[dict[str, Any]]:
    """Return the answers in the order of the questions."""
    if unknown := answers.keys() - {one.question for one in questions}:
        raise InvalidInputError(
            {"answers": f"This is not asked any more: {min(unknown)[:300]!r}. Read the questions again."}
        )
    checks = FieldChecks()
    given = []
    for number, one in enumerate(questions, 1):
        field, answer = f"answer-{number}", answers.get(one.question, "")
        if one.kind is QuestionKind.BOX:
            found: str | bool = answer is True or answer in {"true", "on"}
            if one.required and not found:
                checks.fail(field, "Tick this box.")
        elif isinstance(answer, bool):
            found = ""
            checks.fail(field, "Give a text.")
        elif one.kind is QuestionKind.TEXT:
            found = checks.text(field, answer, max_length=MAX_TEXT_LENGTH, required=one.required)
        else:
            found = checks.line(field, answer, max_length=MAX_LINE_LENGTH, required=one.required)
            if one.kind is QuestionKind.CHOICE and found and found not in one.choices:
                checks.fail(field, "Choose one of these.")
        given.append({"question": one.question, "answer": found})
    checks.finish()
    return given
