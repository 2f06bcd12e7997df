"""Questions to the organisers of a challenge, and their answers: for the asker alone, or for everyone."""

import uuid

from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts.models import User
from vocboard.app.accounts.registration import require_confirmed
from vocboard.app.announcements import notices, queries
from vocboard.app.announcements.models import Question
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import lock_to_change
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.forms import FieldChecks

MAX_QUESTION_LENGTH, MAX_ANSWER_LENGTH = 5_000, 20_000


def ask(session: Session, *, challenge: Challenge, user: User, text: str) -> Question:
    """Ask the organisers, who are told. People who may not submit can ask, too, for example why.

    The same once more, as by a second click, adds and sends nothing.

    Args:
        challenge: from `get_visible`.

    Raises:
        NotConfirmedError, NotApprovedError: the person's address is not confirmed, or the registration not approved.
        ConflictError: the challenge is archived.
        InvalidInputError: for `text`.
        LimitedError: the person has asked too much.
    """
    require_confirmed(user)
    lock_to_change(session, challenge)
    text = _checked(text, MAX_QUESTION_LENGTH)
    last = queries.last_question(session, challenge, user)
    if last is not None and (last.text, last.answer) == (text, None):
        return last
    rate_limits.spend(session, {rate_limits.QUESTIONS_BY_PERSON: str(user.id)})
    question = Question(challenge_id=challenge.id, user_id=user.id, text=text)
    session.add(question)
    audit.record(session, actor=user, action="question.ask", subject=question)
    notices.asked(session, question, challenge)
    return question


def state_of(question: Question) -> str:
    """Return what is another text once the answer, or who sees it, has changed."""
    return f"{question.answered_at} {question.is_public}"


def answer(
    session: Session,
    *,
    challenge: Challenge,
    user: User,
    question_id: uuid.UUID,
    text: str,
    public: bool,
    before: str | None = None,
) -> Question:
    """Answer a question, or change its answer, or who sees it. The asker is told of an answer that is new or changed.

    Args:
        challenge: from `get_organised`.
        public: whether everyone who can see the challenge sees question and answer, without the asker's name.
        before: `state_of` the question for which this was written; None to replace any answer.

    Raises:
        ConflictError: the challenge is archived, or the question has been answered meanwhile.
        InvalidInputError: for `text`.
        NotFoundError: the challenge has no such question.
    """
    lock_to_change(session, challenge)
    question = get(session, challenge, question_id)
    text = _checked(text, MAX_ANSWER_LENGTH)
    if (question.answer, question.is_public) == (text, public):
        return question
    if before not in {None, state_of(question)}:
        raise ConflictError(
            "This was answered since you opened the page, so nothing was saved. If you save again, what you have typed "
            "replaces the answer."
        )
    is_new = question.answer != text
    question.answer, question.is_public = text, public
    if is_new:
        question.answered_at = now()
        notices.answered(session, question, challenge)
    details = {"public": public}  # not the text, which may be for the asker alone
    audit.record(session, actor=user, action="question.answer", subject=question, details=details)
    return question


def remove(session: Session, *, challenge: Challenge, user: User, question_id: uuid.UUID) -> None:
    """Remove a question and its answer, also for the asker. Idempotent.

    Raises:
        ConflictError: the challenge is archived.
        NotFoundError: it is another challenge's.
    """
    lock_to_change(session, challenge)
    if session.get(Question, question_id) is None:
        return
    question = get(session, challenge, question_id)
    audit.record(session, actor=user, action="question.remove", subject=question)
    notices.withdrawn(session, question)
    session.delete(question)


def get(session: Session, challenge: Challenge, question_id: uuid.UUID) -> Question:
    """Return a question of a challenge, for its organisers.

    Raises:
        NotFoundError: the challenge has no such question.
    """
    found = session.get(Question, question_id, populate_existing=True)
    if found is None or found.challenge_id != challenge.id:
        raise NotFoundError("This question does not exist.")
    return found


def _checked(text: str, max_length: int) -> str:
    checks = FieldChecks()
    found = checks.text("text", text, max_length=max_length, required=True)
    checks.finish()
    return found
