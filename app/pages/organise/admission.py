"""Who asks to take part in a challenge, and its terms, for organisers."""

import csv
import io
import uuid
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Form
from starlette.responses import Response

from vocboard.app.challenges import admission_requests, phase_people, terms
from vocboard.app.challenges.models import Admission, RequestState
from vocboard.app.challenges.phases import phases_of
from vocboard.app.errors import ConflictError, InvalidInputError
from vocboard.app.forms import escape_formula
from vocboard.app.pages.filters import page_number
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes

router = Routes("/organise/{slug}/admission")


@router.get("")
def admission_page(organised: Organised) -> Response:
    """Requests to take part, and the terms."""
    return _page(organised)


@router.post("/requests/{request_id}/admit", dependencies=[Depends(protect_form)])
def admit(organised: Organised, request_id: uuid.UUID) -> Response:
    """Admit a person who has asked."""
    try:
        organised.change(phase_people.admit_request, request_id=request_id)
    except ConflictError as error:
        return _page(organised, errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/admission", done="request-admitted")


@router.post("/requests/{request_id}/decline", dependencies=[Depends(protect_form)])
def decline(organised: Organised, request_id: uuid.UUID, reason: Annotated[str, Form()] = "") -> Response:
    """Decline a request."""
    try:
        organised.change(admission_requests.decline, request_id=request_id, reason=reason)
    except (ConflictError, InvalidInputError) as error:
        return _page(organised, errors=FormErrors.of(error), declined=request_id, reason=reason)
    return go_to(f"/organise/{organised.slug}/admission", done="request-declined")


@router.post("/terms", dependencies=[Depends(protect_form)])
def set_terms(organised: Organised, text: Annotated[str, Form()] = "") -> Response:
    """Publish another version of the terms."""
    try:
        made = organised.change(terms.publish, text=text)
    except (ConflictError, InvalidInputError) as error:
        return _page(organised, errors=FormErrors.of(error), text=text)
    return go_to(
        f"/organise/{organised.slug}/admission", done="terms-published" if made and made.text else "terms-removed"
    )


@router.get("/acceptances.csv")
def acceptances_file(organised: Organised) -> Response:
    """Who has accepted which version of the terms, and when."""
    with organised.reading() as (session, challenge):
        found = terms.acceptances(session, challenge.id)
    output = io.StringIO()
    rows = csv.writer(output)
    rows.writerow(("version", "accepted_at", "name", "email"))
    for one in found:
        person = escape_formula(one.user.name), escape_formula(one.user.email)
        rows.writerow((one.terms.number, one.created_at.isoformat(timespec="seconds"), *person))
    name = f"{organised.slug}-terms-{datetime.now(UTC):%Y-%m-%d}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(output.getvalue(), media_type="text/csv", headers=headers)


def _page(
    organised: OrganisedChallenge,
    *,
    errors: FormErrors = NO_ERRORS,
    declined: uuid.UUID | None = None,
    reason: str = "",
    text: str | None = None,
) -> Response:
    """Return the page.

    Args:
        declined: the request that could not be declined, for this reason.
        text: of the terms, if these were refused.
    """
    with organised.reading() as (session, challenge):
        requests = admission_requests.page_of_requests(session, challenge.id, page=page_number(organised.request))
        versions = terms.versions(session, challenge.id)
        counts = terms.acceptance_counts(session, challenge.id)
    phases = {phase.id: phase for phase in phases_of(challenge)}
    return render(
        organised.request,
        "organise/admission.html",
        errors=errors,
        challenge=challenge,
        phases=phases,
        on_request=any(phase.rules.admission is Admission.REQUEST for phase in phases.values()),
        requests=requests,
        open_requests=[one for one in requests.items if one.state is RequestState.OPEN],
        decided=[one for one in requests.items if one.state is not RequestState.OPEN],
        versions=versions,
        counts=counts,
        declined=declined,
        reason=reason,
        form={"text": (versions[0].text if versions else "") if text is None else text},
    )
