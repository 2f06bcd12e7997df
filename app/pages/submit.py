"""The submit page, and its streaming upload."""

from functools import partial
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.accounts.registration import require_confirmed
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.service import Phase
from vocboard.app.database import Database, now
from vocboard.app.errors import ForbiddenError, InvalidArchiveError, LimitedError, NotFoundError, ServiceError
from vocboard.app.pages import wording
from vocboard.app.pages.challenges import competitions_of, edition_argument
from vocboard.app.pages.forms import FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import report_view
from vocboard.app.quotas.service import quotas
from vocboard.app.settings import Settings
from vocboard.app.submissions.declarations import needed_by
from vocboard.app.uploads.multipart import StreamedForm
from vocboard.app.web.csrf import FIELD, ForgedRequestError, verify_csrf
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep, SettingsDep
from vocboard.app.web.identity import SignedIn
from vocboard.evaluator.tasks.definitions import TASKS

router = APIRouter()


@router.get("/challenges/{slug}/submit")
def submit_page(request: Request, database: DatabaseDep, settings: SettingsDep, user: SignedIn, slug: str) -> Response:
    """Show the submit form."""
    return _page(
        request, database, settings, user, slug, form={"affiliation": user.affiliation, "contributors": user.name}
    )


@router.post("/challenges/{slug}/submit")
async def submit(
    request: Request, database: DatabaseDep, settings: SettingsDep, intake: IntakeDep, user: SignedIn, slug: str
) -> Response:
    """Receive an upload. Errors are shown above the form, which keeps its values."""
    typed = StreamedForm()

    def before_file(form: StreamedForm) -> None:
        nonlocal typed
        typed = form
        verify_csrf(request, form.value(FIELD))

    try:
        submission_id = await intake.take_submission(request, slug=slug, user=user, before_file=before_file)
    except (NotFoundError, ForgedRequestError):
        raise
    except ServiceError as error:
        form: dict[str, Any] = {name: typed.value(name) for name in typed.fields}
        form["segmentation_classes"] = typed.fields.get("segmentation_classes", [])
        return await to_thread.run_sync(partial(_page, request, database, settings, user, slug, form=form, error=error))
    return go_to(f"/submissions/{submission_id}")


def _page(
    request: Request,
    database: Database,
    settings: Settings,
    user: User,
    slug: str,
    *,
    form: dict[str, Any],
    error: ServiceError | None = None,
) -> Response:
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, user)
        keys = [row.key for row in challenge.competitions]
        left = quotas(session, user=user, challenge=challenge, competitions=keys, now=now())
    phase = challenges.phase(challenge, now())
    edition = challenges.edition_of(challenge)
    segments = any(TASKS[item.task].needs_declared_classes for item in competitions_of(challenge))
    errors = FormErrors.of(error) if error else FormErrors()
    return render(
        request,
        "submit.html",
        status=errors.status,
        challenge=challenge,
        edition_argument=edition_argument(challenge),
        segmentation_classes=edition.classes if segments else (),
        phase=phase,
        obstacle=_obstacle(user),
        phase_message="" if phase is Phase.OPEN else wording.CANNOT_SUBMIT[phase],
        upload_limit=settings.upload_limit_bytes,
        quotas=left,
        needed=needed_by(competitions_of(challenge)),
        form=form,
        wrong=errors.wrong,
        message=errors.message,
        limit=error if isinstance(error, LimitedError) else None,
        report=report_view(error.problems) if isinstance(error, InvalidArchiveError) else None,
    )


def _obstacle(user: User) -> ForbiddenError | None:
    """Return what prevents the user's account from submitting."""
    try:
        require_confirmed(user)
    except ForbiddenError as error:
        return error
    return None
