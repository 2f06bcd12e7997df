"""The phases of a challenge for its organisers: who is admitted to them, and who has extra quota."""

import uuid
from datetime import UTC, tzinfo
from typing import Annotated, Any

from fastapi import Depends, Form
from pydantic import BaseModel
from starlette.responses import Response

from vocboard.app.accounts.people import written_addresses
from vocboard.app.challenges import phase_people
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, Visibility
from vocboard.app.challenges.phases import phase_named, phases_of
from vocboard.app.database import now
from vocboard.app.errors import InvalidInputError, LimitedError
from vocboard.app.forms import instant, whole
from vocboard.app.organising.submissions import MAX_SEARCH_LENGTH
from vocboard.app.pages import formats
from vocboard.app.pages.challenges import timeline
from vocboard.app.pages.filters import page_number
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes

router = Routes("/organise/{slug}")


def zone_of(challenge: Challenge) -> tzinfo:
    """Return the time zone in which organisers type the dates of a challenge."""
    return formats.ANYWHERE_ON_EARTH if challenge.anywhere_on_earth else UTC


def zone_name(challenge: Challenge) -> str:
    """Name the time zone in which the dates of a challenge are typed."""
    return formats.ANYWHERE_ON_EARTH_NAME if challenge.anywhere_on_earth else "UTC"


class PersonForm(BaseModel):
    """A person to admit to a phase."""

    email: str = ""
    phase: str = MAIN_PHASE
    tell: bool = False


class ExtraQuotaForm(PersonForm):
    """Extra quota for a person."""

    count: str = "1"
    until: str = ""
    reason: str = ""

    def grant(self, challenge: Challenge) -> dict[str, Any]:
        """Return the count, the date and the reason, as arguments of the services.

        Raises:
            InvalidInputError: with what is neither.
        """
        wrong: dict[str, str] = {}
        count = whole(self.count, "count", wrong)
        until = instant(self.until, "until", wrong, zone_of(challenge))
        if until is None:
            wrong.setdefault("until", "Required.")
        if wrong or until is None:
            raise InvalidInputError(wrong)
        return {"count": count, "until": until, "reason": self.reason}


@router.get("/phases")
def phases_page(organised: Organised, email: str | None = None, q: str = "") -> Response:
    """The phases of a challenge, who is admitted, and who has extra quota; a link can name whom to give it."""
    extra = ExtraQuotaForm(email=email) if email else None
    return phases_overview(organised, extra=extra, admitted=q[:MAX_SEARCH_LENGTH])


@router.post("/admissions", dependencies=[Depends(protect_form)])
def admit(organised: Organised, form: Annotated[PersonForm, Form()]) -> Response:
    """Let a person submit to a phase that is not open to everyone, or not to new accounts."""
    try:
        with organised.writing() as (session, challenge):
            phase = phase_named(challenge, form.phase)
            emails = written_addresses(form.email)
            phase_people.admit(
                session,
                challenge=challenge,
                phase=phase,
                organiser=organised.user,
                emails=emails,
                tell=form.tell,
                site=organised.site,
            )
    except (InvalidInputError, LimitedError) as error:
        return phases_overview(organised, admission=form, errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/phases", done="admitted")


@router.post("/admissions/{admission_id}/end", dependencies=[Depends(protect_form)])
def end_admission(organised: Organised, admission_id: uuid.UUID) -> Response:
    """End an admission."""
    with organised.writing() as (session, challenge):
        phase_people.end_admission(session, challenge=challenge, organiser=organised.user, admission_id=admission_id)
    return go_to(f"/organise/{organised.slug}/phases", done="admission-ended")


@router.post("/extra-quotas", dependencies=[Depends(protect_form)])
def grant_extra_quota(organised: Organised, form: Annotated[ExtraQuotaForm, Form()]) -> Response:
    """Let a person make more submissions, until a date."""
    try:
        with organised.writing() as (session, challenge):
            phase_people.grant_extra_quota(
                session,
                challenge=challenge,
                phase=phase_named(challenge, form.phase),
                organiser=organised.user,
                email=form.email,
                **form.grant(challenge),
            )
    except InvalidInputError as error:
        return phases_overview(organised, extra=form, errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/phases", done="quota-granted")


@router.post("/extra-quotas/{grant_id}", dependencies=[Depends(protect_form)])
def change_extra_quota(organised: Organised, grant_id: uuid.UUID, form: Annotated[ExtraQuotaForm, Form()]) -> Response:
    """Change a person's extra quota."""
    try:
        with organised.writing() as (session, challenge):
            phase_people.change_extra_quota(
                session, challenge=challenge, organiser=organised.user, grant_id=grant_id, **form.grant(challenge)
            )
    except InvalidInputError as error:
        return phases_overview(organised, changed=(grant_id, form), errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/phases", done="quota-changed")


@router.post("/extra-quotas/{grant_id}/end", dependencies=[Depends(protect_form)])
def end_extra_quota(organised: Organised, grant_id: uuid.UUID) -> Response:
    """Revoke extra quota."""
    with organised.writing() as (session, challenge):
        phase_people.end_extra_quota(session, challenge=challenge, organiser=organised.user, grant_id=grant_id)
    return go_to(f"/organise/{organised.slug}/phases", done="quota-ended")


def phases_overview(
    organised: OrganisedChallenge,
    *,
    admission: PersonForm | None = None,
    extra: ExtraQuotaForm | None = None,
    changed: tuple[uuid.UUID, ExtraQuotaForm] | None = None,
    admitted: str = "",
    errors: FormErrors = NO_ERRORS,
) -> Response:
    """Return the overview.

    Args:
        admission: the form to admit somebody, if it was not accepted.
        extra: the form of extra quota, if it was not accepted.
        changed: the extra quota to change, and the form, if it was not accepted.
        admitted: part of the addresses to list of those who are admitted.
        errors: what is wrong with one of them, or with something else that was asked for.
    """
    at = now()
    with organised.reading() as (session, challenge):
        admissions = phase_people.page_of_admissions(
            session, challenge, contains=admitted, page=page_number(organised.request)
        )
        extras = phase_people.extra_quotas(session, challenge)
    phases, is_private = phases_of(challenge), challenge.visibility is Visibility.PRIVATE
    return render(
        organised.request,
        "organise/phases.html",
        status=errors.status,
        challenge=challenge,
        timeline=timeline(challenge, at),
        titles={phase.id: phase.title for phase in phases},
        limited=[phase for phase in phases if is_private or phase.rules.chooses_people],
        admissions=admissions,
        admitted=admitted,
        extras=extras,
        at=at,
        zone_name=zone_name(challenge),
        admission=(admission or PersonForm()).model_dump(),
        extra=(extra or ExtraQuotaForm()).model_dump(),
        wrong_admission=errors.wrong if admission else {},
        wrong_extra=errors.wrong if extra else {},
        zone=zone_of(challenge),
        changed_id=changed[0] if changed else None,
        changed=changed[1].model_dump() if changed else {},
        wrong_changed=errors.wrong if changed else {},
        message=errors.message,
    )
