"""Deleting one's account, and the privacy page."""

from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Form, Request
from pydantic import BaseModel
from starlette.responses import Response

from vocboard.app.accounts.privacy import STORED
from vocboard.app.errors import InvalidInputError, ServiceError
from vocboard.app.pages.formats import duration
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.participating import leaving
from vocboard.app.web import cookies
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import SettingsDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.app.web.routes import Routes
from vocboard.app.web.visits import SignedInVisit, Visit

router = Routes()

DURATIONS = (
    "session_lifetime",
    "withdrawn_archives_kept_for",
    "rejected_uploads_kept_for",
    "unfinished_uploads_kept_for",
    "webhook_log_kept_for",
)


class DeletionForm(BaseModel):
    """The form to delete an account."""

    naming: str = ""
    password: str = ""


@router.get("/privacy")
def privacy_page(request: Request, settings: SettingsDep, _: CurrentIdentity) -> Response:
    """What is stored about people, for how long, and what happens to it when an account is deleted."""
    durations = {name: duration(getattr(settings, name)) for name in DURATIONS}
    stored = [(one.what, one.kept.format(**durations), one.fate.value) for one in STORED.values()]
    return render(request, "privacy.html", stored=stored)


@router.get("/account/delete")
def deletion_page(visit: SignedInVisit) -> Response:
    """Say what deleting the account means, and ask."""
    return _page(visit, DeletionForm())


@router.post("/account/delete", dependencies=[Depends(protect_form)])
async def delete_account(visit: SignedInVisit, form: Annotated[DeletionForm, Form()]) -> Response:
    """Delete the account, after verifying the password."""
    user, accounts = visit.user, visit.accounts
    try:
        if form.naming not in set(leaving.Naming):
            raise InvalidInputError({"naming": "Choose what happens to your name."})
        naming = leaving.Naming(form.naming)
        await accounts.verify(user, form.password, field="password", address=visit.address)
        await accounts.write(leaving.delete_account, user=user, naming=naming, settings=visit.settings, actor=user)
    except ServiceError as error:
        return await to_thread.run_sync(_page, visit, form, FormErrors.of(error))
    response = go_to("/sign-in", done="account-deleted")
    cookies.SESSION.clear(response, visit.settings)
    return response


def _page(visit: Visit, form: DeletionForm, errors: FormErrors = NO_ERRORS) -> Response:
    with visit.database.reading() as session:
        consequences = leaving.consequences(session, visit.user)
    return render(visit.request, "delete_account.html", errors=errors, consequences=consequences, naming=form.naming)
