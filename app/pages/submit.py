"""The submit page, and its streaming upload."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.accounts.registration import require_confirmed
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges import terms
from vocboard.app.challenges.models import Admission, Challenge
from vocboard.app.challenges.phase_people import extra_quotas_of
from vocboard.app.challenges.phases import Phase, PhaseState, current_phase, edition_of_phase, phase_named, phases_of
from vocboard.app.database import now
from vocboard.app.errors import (
    ForbiddenError,
    IncompleteEntryError,
    InvalidArchiveError,
    LimitedError,
    NotFoundError,
    ServiceError,
    WarningsNotAcceptedError,
)
from vocboard.app.intake.accepting import Destination, classes_not_entered, doubtful_sentence, incomplete_sentence
from vocboard.app.intake.multipart import CONFIRMATIONS, IDENTICAL_FIELD, INCOMPLETE_FIELD, WARNINGS_FIELD, StreamedForm
from vocboard.app.intake.service import CheckedUpload, SubmissionRequest
from vocboard.app.intake.submitting import check_admitted
from vocboard.app.pages import wording
from vocboard.app.pages.challenges import competitions_of, edition_argument
from vocboard.app.pages.forms import FormErrors, go_to, token_verifier
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import ReportView, report_view
from vocboard.app.submissions.forms import declaration_labels, needed_by, previous_answers
from vocboard.app.submissions.idempotency import MAX_KEY_LENGTH, ReusedKeyError
from vocboard.app.submissions.queries import IdenticalArchiveError
from vocboard.app.submissions.quota import check_any_quota_left, counted_together, quotas
from vocboard.app.teams.queries import people_with, require_none_banned
from vocboard.app.web.csrf import ForgedRequestError, protect_form
from vocboard.app.web.dependencies import IntakeDep, services_of
from vocboard.app.web.identity import SignedIn
from vocboard.app.web.routes import Routes
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.tasks.definitions import TASKS

router = Routes()

_USED_FORM = (
    "This form was already sent, and made the submission {}. Nothing was submitted now. If you want to submit this as "
    "well, choose the archive again and send the form once more."
)
# What the boxes say that have to be ticked, by field of the form.
_LABELS = {
    WARNINGS_FIELD: "Submit the results with these warnings",
    INCOMPLETE_FIELD: "Submit without the missing classes",
    IDENTICAL_FIELD: "Submit it again anyway",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What has to be confirmed before an archive is submitted.

    Attributes:
        field: of the form.
        text: why it is asked.
        submission_id: an earlier submission that the text is about.
    """

    field: str
    text: str
    submission_id: uuid.UUID | None = None

    @property
    def label(self) -> str:
        """Text of the box to tick."""
        return _LABELS[self.field]

    @classmethod
    def after(cls, error: ServiceError | None) -> "Question | None":
        """Return what the person has to confirm, if a submission was refused for lack of that."""
        match error:
            case WarningsNotAcceptedError():
                return cls(WARNINGS_FIELD, str(error))
            case IncompleteEntryError():
                return cls(INCOMPLETE_FIELD, str(error))
            case IdenticalArchiveError():
                return cls(IDENTICAL_FIELD, str(error), error.submission_id)
        return None


@dataclass(frozen=True, slots=True)
class Checked:
    """A valid archive: what it enters.

    Attributes:
        competitions: keys, in the edition's order.
        questions: what has to be confirmed.
        limit: the quota that is used up.
        warnings: of the report, by cause.
    """

    competitions: tuple[str, ...]
    questions: tuple[Question, ...]
    limit: LimitedError | None
    warnings: ReportView

    @classmethod
    def of(cls, found: CheckedUpload) -> "Checked":
        """Say what the check of an upload has found."""
        report, edition = found.report, found.edition
        asked = (
            Question(WARNINGS_FIELD, doubtful_sentence(report.doubtful)),
            Question(INCOMPLETE_FIELD, incomplete_sentence(classes_not_entered(report, edition), edition)),
            Question.after(found.identical),
        )
        return cls(
            tuple(entry.competition for entry in report.entries),
            tuple(question for question in asked if question and question.text),
            found.limit,
            report_view(report.problems, report.groups),
        )


class SubmitPage:
    """The submit page of a challenge, for the target that the address names."""

    def __init__(self, request: Request, user: User, slug: str, phase: str | None, rehearsal: bool) -> None:
        services = services_of(request)
        self.request, self.user, self.target = request, user, Destination(slug, phase, rehearsal)
        self._database, self._upload_limit = services.database, services.settings.upload_limit_bytes
        self._fields = {"phase": phase} if phase is not None else {}
        if rehearsal:
            self._fields["rehearsal"] = "true"

    def show(
        self, *, form: dict[str, Any] | None = None, error: ServiceError | None = None, checked: Checked | None = None
    ) -> Response:
        """Return the page.

        Args:
            form: what was typed; by default, as in the last submission.
            error: why a submission or a check was refused.
            checked: what was found in an archive that can be submitted.
        """
        at, user, target = now(), self.user, self.target
        with self._database.reading() as session:
            find = challenges.get_organised if target.is_rehearsal else challenges.get_visible
            challenge = find(session, target.slug, user)
            phase = (
                current_phase(challenge, at) if target.phase_key is None else phase_named(challenge, target.phase_key)
            )
            left = quotas(session, user=user, challenge=challenge, phase=phase, now=at)
            extras = extra_quotas_of(session, phase, user, at=at)
            # What was checked began in time, even if the phase has closed or its terms have changed since.
            obstacle = None if checked else self._obstacle(session, challenge, phase)
            previous = previous_answers(session, user=user, challenge=challenge)
            limit = error if isinstance(error, LimitedError) else None
            if not (error or checked or obstacle or target.is_rehearsal) and self._accepts(phase, at):
                try:  # say before people fill in the form that no competition has quota left
                    check_any_quota_left(session, user=user, challenge=challenge, phase=phase, now=at)
                except LimitedError as used_up:
                    limit = used_up
        state = phase.state(at)
        edition = edition_of_phase(challenge, phase)
        competitions = competitions_of(challenge, phase)
        entered = [item for item in competitions if checked is None or item.key in checked.competitions]
        needed = needed_by(entered)
        segments = any(TASKS[item.task].needs_declared_classes for item in entered)
        groups: dict[str, list[Competition]] = {}  # by task, or what shares a quota
        for competition in competitions:
            title, shared = wording.task_title(competition), counted_together(phase.rules, competition)
            groups.setdefault(shared if phase.rules.shared_quota else title, []).append(competition)
        errors = FormErrors.of(error) if error else FormErrors()
        # With a new key: a form that is sent twice counts once.
        keyed = urlencode({**self._fields, "idempotency_key": str(uuid.uuid4())})
        return render(
            self.request,
            "submit.html",
            status=errors.status,
            challenge=challenge,
            edition_argument=edition_argument(challenge),
            segmentation_classes=edition.classes if segments else (),
            phase=phase,
            action=f"/challenges/{target.slug}/submit?{keyed}",
            query="?" + urlencode(self._fields) if self._fields else "",
            upload_query="?" + urlencode({"challenge": target.slug, **self._fields}),
            state=state,
            rehearsal=target.is_rehearsal,
            open_phases=[each for each in phases_of(challenge) if self._accepts(each, at)],
            is_frozen=phase.is_frozen(at),
            obstacle=obstacle,
            takes_part=isinstance(obstacle, terms.TermsNotAcceptedError)
            or (obstacle is not None and phase.rules.admission is Admission.REQUEST),
            state_message="" if checked or self._accepts(phase, at) else wording.CANNOT_SUBMIT[state],
            upload_limit=self._upload_limit,
            quotas=[
                (list(dict.fromkeys(map(wording.task_title, group))), [(each.key, left[each.key]) for each in group])
                for group in groups.values()
            ],
            allowed=next((quota.allowed for quota in left.values()), phase.rules.quota_count),
            extras=extras,
            needed=needed,
            labels=declaration_labels(needed),
            checked=checked,
            form=previous.fields if form is None else form,
            filled_from=previous.method if form is None else None,
            methods=previous.methods,
            wrong=errors.wrong,
            message=_USED_FORM.format(error.submission_id) if isinstance(error, ReusedKeyError) else errors.message,
            question=Question.after(error),
            confirmed=[name for name in CONFIRMATIONS if (form or {}).get(name)],
            limit=limit,
            report=report_view(error.problems, error.groups)
            if isinstance(error, InvalidArchiveError | WarningsNotAcceptedError)
            else None,
            also_missing=incomplete_sentence(error.not_entered, edition)
            if isinstance(error, InvalidArchiveError)
            else "",
        )

    def _accepts(self, phase: Phase, at: datetime) -> bool:
        if self.target.is_rehearsal:
            return phase.scoring_id is not None and not phase.is_archived
        return phase.state(at) is PhaseState.OPEN

    def _obstacle(self, session: Session, challenge: Challenge, phase: Phase) -> ForbiddenError | None:
        """What keeps this person, but perhaps not others, from submitting."""
        try:
            require_confirmed(self.user)
            people = people_with(session, challenge.id, self.user)
            require_none_banned(session, challenge_id=challenge.id, user=self.user, people=people)
            if not self.target.is_rehearsal:
                check_admitted(session, challenge=challenge, phase=phase, user=self.user)
                terms.require_accepted(session, challenge, self.user, at=now())
        except ForbiddenError as error:
            return error
        return None


async def _submit_page(
    request: Request, user: SignedIn, slug: str, phase: str | None = None, rehearsal: bool = False
) -> SubmitPage:
    return SubmitPage(request, user, slug, phase, rehearsal)


Page = Annotated[SubmitPage, Depends(_submit_page)]


@router.get("/challenges/{slug}/submit")
def submit_page(page: Page) -> Response:
    """The form to submit results with."""
    return page.show()


@router.post("/challenges/{slug}/submit")
async def submit(
    page: Page,
    intake: IntakeDep,
    upload: uuid.UUID | None = None,
    idempotency_key: Annotated[str | None, Query(max_length=MAX_KEY_LENGTH, pattern="^[!-~]*$")] = None,
) -> Response:
    """Take an upload; whatever is wrong is told above the form, which keeps what was typed."""
    typed, verify = StreamedForm(), token_verifier(page.request)

    def before_file(form: StreamedForm) -> None:
        nonlocal typed
        typed = form
        verify(form)

    try:
        sent = SubmissionRequest(
            page.request,
            page.target,
            page.user,
            idempotency_key or None,
            refuses_identical=True,
            refuses_incomplete=True,
        )
        outcome = await intake.submit(sent, upload_id=upload, before_file=before_file)
    except (NotFoundError, ForgedRequestError):
        raise
    except ServiceError as error:
        form: dict[str, Any] = {name: typed.value(name) for name in typed.fields}
        form["segmentation_classes"] = typed.fields.get("segmentation_classes", [])
        return await to_thread.run_sync(partial(page.show, form=form, error=error))
    return go_to(f"/submissions/{outcome.submission_id}")


@router.post("/challenges/{slug}/submit/check", dependencies=[Depends(protect_form)])
async def check(page: Page, intake: IntakeDep, upload: uuid.UUID) -> Response:
    """Check an archive that was uploaded, and return the form as far as its competitions need it."""
    try:
        found = await intake.check(page.request, upload, user=page.user)
    except NotFoundError:
        raise
    except ServiceError as error:
        return await to_thread.run_sync(partial(page.show, error=error))
    report = found.report
    if report.refuses:
        missing = classes_not_entered(report, found.edition)
        refused = InvalidArchiveError(report.problems, report.groups, not_entered=missing)
        return await to_thread.run_sync(partial(page.show, error=refused))
    page.target = replace(page.target, phase_key=found.phase_key)  # another phase may have opened since
    return await to_thread.run_sync(partial(page.show, checked=Checked.of(found)))
