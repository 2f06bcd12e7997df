"""The submit page, and its streaming upload."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.accounts.registration import require_confirmed
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.bans import require_not_banned
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phase_people import check_admitted, extra_quotas_of
from vocboard.app.challenges.service import Phase, PhaseState
from vocboard.app.database import Database, now
from vocboard.app.errors import (
    ForbiddenError,
    InvalidArchiveError,
    LimitedError,
    NotFoundError,
    ServiceError,
    WarningsNotAcceptedError,
)
from vocboard.app.intake.accepting import Destination, classes_not_entered, incomplete_sentence
from vocboard.app.intake.idempotency import MAX_KEY_LENGTH, ReusedKeyError
from vocboard.app.intake.multipart import CONFIRMATIONS, StreamedForm
from vocboard.app.intake.service import SubmissionRequest
from vocboard.app.pages import wording
from vocboard.app.pages.challenges import competitions_of, edition_argument
from vocboard.app.pages.forms import FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import report_view
from vocboard.app.pages.submit_questions import Checked, question
from vocboard.app.quotas.service import Quota, check_any_quota_left, quotas
from vocboard.app.settings import Settings
from vocboard.app.submissions.forms import needed_by, previous_answers
from vocboard.app.web.csrf import FIELD, ForgedRequestError, protect_form, verify_csrf
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep, SettingsDep
from vocboard.app.web.identity import SignedIn
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.tasks.registries.definitions import TASKS

router = APIRouter()

_USED_FORM = (
    "This form was already sent, and made the submission {}. Nothing was submitted now. If you want to submit this as "
    "well, choose the archive again and send the form once more."
)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What an upload is for, as its address says."""

    slug: str
    phase_key: str | None
    is_rehearsal: bool

    @property
    def query(self) -> str:
        return _query(self._fields)

    @property
    def upload_query(self) -> str:
        """Of the address that resumable uploads are created at."""
        return _query({"challenge": self.slug, **self._fields})

    @property
    def _fields(self) -> dict[str, str | None]:
        return {"phase": self.phase_key, "rehearsal": "true" if self.is_rehearsal else None}

    def action(self) -> str:
        """The address that the form is sent to, with a new idempotency key: a form that is sent twice counts once."""
        return f"/challenges/{self.slug}/submit{self.query}{'&' if self.query else '?'}idempotency_key={uuid.uuid4()}"

    def phase(self, challenge: Challenge, at: datetime) -> Phase:
        if self.phase_key is None:
            return challenges.current_phase(challenge, at)
        return challenges.phase_named(challenge, self.phase_key)

    def accepts(self, phase: Phase, at: datetime) -> bool:
        return phase.scoring_id is not None if self.is_rehearsal else phase.state(at) is PhaseState.OPEN


@router.get("/challenges/{slug}/submit")
def submit_page(
    request: Request,
    database: DatabaseDep,
    settings: SettingsDep,
    user: SignedIn,
    slug: str,
    phase: str | None = None,
    rehearsal: bool = False,
) -> Response:
    """The form to submit results with."""
    return _page(request, database, settings, user, _Wanted(slug, phase, rehearsal))


@router.post("/challenges/{slug}/submit")
async def submit(
    request: Request,
    database: DatabaseDep,
    settings: SettingsDep,
    intake: IntakeDep,
    user: SignedIn,
    slug: str,
    phase: str | None = None,
    rehearsal: bool = False,
    upload: uuid.UUID | None = None,
    idempotency_key: Annotated[str | None, Query(max_length=MAX_KEY_LENGTH)] = None,
) -> Response:
    """Take an upload; whatever is wrong is told above the form, which keeps what was typed."""
    typed, wanted = StreamedForm(), _Wanted(slug, phase, rehearsal)

    def before_file(form: StreamedForm) -> None:
        nonlocal typed
        typed = form
        verify_csrf(request, form.value(FIELD))

    try:
        destination = Destination(slug, phase, rehearsal)
        sent = SubmissionRequest(
            request, destination, user, idempotency_key or None, refuses_identical=True, refuses_incomplete=True
        )
        outcome = await intake.submit(sent, upload_id=upload, before_file=before_file)
    except (NotFoundError, ForgedRequestError):
        raise
    except ServiceError as error:
        form: dict[str, Any] = {name: typed.value(name) for name in typed.fields}
        form["segmentation_classes"] = typed.fields.get("segmentation_classes", [])
        return await to_thread.run_sync(
            partial(_page, request, database, settings, user, wanted, form=form, error=error)
        )
    return go_to(f"/submissions/{outcome.submission_id}")


@router.post("/challenges/{slug}/submit/check", dependencies=[Depends(protect_form)])
async def check(
    request: Request,
    database: DatabaseDep,
    settings: SettingsDep,
    intake: IntakeDep,
    user: SignedIn,
    slug: str,
    upload: uuid.UUID,
    phase: str | None = None,
    rehearsal: bool = False,
) -> Response:
    """Check an archive that was uploaded, and return the form as far as its competitions need it."""
    show = partial(_page, request, database, settings, user, _Wanted(slug, phase, rehearsal))
    try:
        found = await intake.check(request, upload, user=user)
    except NotFoundError:
        raise
    except ServiceError as error:
        return await to_thread.run_sync(partial(show, error=error))
    report = found.report
    if report.refuses:
        missing = classes_not_entered(report, found.edition)
        refused = InvalidArchiveError(report.problems, report.groups, not_entered=missing)
        return await to_thread.run_sync(partial(show, error=refused))
    return await to_thread.run_sync(partial(show, checked=Checked.of(found)))


def _page(
    request: Request,
    database: Database,
    settings: Settings,
    user: User,
    wanted: _Wanted,
    *,
    form: dict[str, Any] | None = None,
    error: ServiceError | None = None,
    checked: Checked | None = None,
) -> Response:
    at = now()
    with database.reading() as session:
        challenge = challenges.get_visible(session, wanted.slug, user)
        if wanted.is_rehearsal:
            challenge = challenges.get_organised(session, wanted.slug, user)
        phase = wanted.phase(challenge, at)
        left = quotas(session, user=user, challenge=challenge, phase=phase, now=at)
        extras = extra_quotas_of(session, phase, user, at=at)
        obstacle = _obstacle(session, user, challenge, phase, wanted)
        previous = previous_answers(session, user=user, challenge=challenge)
        limit = error if isinstance(error, LimitedError) else None
        if not (error or checked or obstacle or wanted.is_rehearsal) and wanted.accepts(phase, at):
            limit = _used_up(session, user, challenge, phase, at)
    state = phase.state(at)
    edition = challenges.edition_of_phase(challenge, phase)
    competitions = competitions_of(challenge, phase)
    entered = [item for item in competitions if checked is None or item.key in checked.competitions]
    segments = any(TASKS[item.task].needs_declared_classes for item in entered)
    errors = FormErrors.of(error) if error else FormErrors()
    return render(
        request,
        "submit.html",
        status=errors.status,
        challenge=challenge,
        edition_argument=edition_argument(challenge),
        segmentation_classes=edition.classes if segments else (),
        phase=phase,
        action=wanted.action(),
        query=wanted.query,
        upload_query=wanted.upload_query,
        state=state,
        rehearsal=wanted.is_rehearsal,
        open_phases=[each for each in challenges.phases_of(challenge) if wanted.accepts(each, at)],
        is_frozen=phase.is_frozen(at),
        obstacle=obstacle,
        state_message="" if wanted.accepts(phase, at) else wording.CANNOT_SUBMIT[state],
        upload_limit=settings.upload_limit_bytes,
        quotas=_by_task(competitions, left),
        allowed=next((quota.allowed for quota in left.values()), phase.rules.quota_count),
        extras=extras,
        needed=needed_by(entered),
        checked=checked,
        form=previous.fields if form is None else form,
        filled_from=previous.method if form is None else None,
        methods=previous.methods,
        wrong=errors.wrong,
        message=_USED_FORM.format(error.submission_id) if isinstance(error, ReusedKeyError) else errors.message,
        question=question(error),
        confirmed=[name for name in CONFIRMATIONS if (form or {}).get(name)],
        limit=limit,
        report=report_view(error.problems, error.groups)
        if isinstance(error, InvalidArchiveError | WarningsNotAcceptedError)
        else None,
        also_missing=incomplete_sentence(error.not_entered, edition) if isinstance(error, InvalidArchiveError) else "",
    )


def _query(fields: Mapping[str, str | None]) -> str:
    given = {name: value for name, value in fields.items() if value is not None}
    return "?" + urlencode(given) if given else ""


def _by_task(competitions: Sequence[Competition], left: Mapping[str, Quota]) -> dict[str, list[tuple[str, Quota]]]:
    """Return the competitions with their quota, by the title of their task."""
    by_task: dict[str, list[tuple[str, Quota]]] = {}
    for competition in competitions:
        by_task.setdefault(wording.task_title(competition), []).append((competition.key, left[competition.key]))
    return by_task


def _used_up(session: Session, user: User, challenge: Challenge, phase: Phase, at: datetime) -> LimitedError | None:
    """Say before people fill in the form that no competition has quota left."""
    try:
        check_any_quota_left(session, user=user, challenge=challenge, phase=phase, now=at)
    except LimitedError as error:
        return error
    return None


def _obstacle(
    session: Session, user: User, challenge: Challenge, phase: Phase, wanted: _Wanted
) -> ForbiddenError | None:
    """What keeps this person, but perhaps not others, from submitting."""
    try:
        require_confirmed(user)
        require_not_banned(session, user_id=user.id, challenge_id=challenge.id)
        if not wanted.is_rehearsal:
            check_admitted(session, challenge=challenge, phase=phase, user=user)
    except ForbiddenError as error:
        return error
    return None
