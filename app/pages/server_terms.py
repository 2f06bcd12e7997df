"""The terms of the server, which users accept again when they have changed."""

from typing import Annotated

from fastapi import Depends, Form, Request
from starlette.responses import Response

from vocboard.app.accounts import terms
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.settings import Settings
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import CurrentIdentity, SignedIn
from vocboard.app.web.routes import Routes

router = Routes("/terms")


@router.get("")
def terms_page(request: Request, settings: SettingsDep, _: CurrentIdentity) -> Response:
    """Show the terms of the server, if it has some."""
    return _page(request, settings)


@router.post("", dependencies=[Depends(protect_form)])
def accept_terms(
    request: Request, settings: SettingsDep, database: DatabaseDep, user: SignedIn, version: Annotated[str, Form()] = ""
) -> Response:
    """Accept the terms of the server."""
    try:
        with database.writing() as session:
            terms.accept(session, path=settings.terms_file, user=user, version=version)
    except ConflictError as error:
        return _page(request, settings, errors=FormErrors.of(error))
    return go_to("/", done="terms-accepted")


def _page(request: Request, settings: Settings, *, errors: FormErrors = NO_ERRORS) -> Response:
    found = terms.Terms.read(settings.terms_file)
    if found is None:
        raise NotFoundError("This server has no terms.")
    return render(request, "terms.html", errors=errors, terms=found)
