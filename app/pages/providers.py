"""Signing in with a provider of OpenID Connect: there and back, new accounts, and the page of linked identities.

The buttons are links: the content security policy does not let forms lead to other sites.
"""

from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import Depends, Form
from pydantic import BaseModel
from starlette.responses import Response

from vocboard.app.accounts import identities, links, queries, registration
from vocboard.app.accounts.models import User
from vocboard.app.accounts.openid import ANSWER_WITHIN, ProvenIdentity, orcid_of
from vocboard.app.accounts.passwords import NO_PASSWORD
from vocboard.app.accounts.people import normalised_email
from vocboard.app.accounts.terms import Terms
from vocboard.app.accounts.tickets import Tickets
from vocboard.app.database import Database
from vocboard.app.errors import ServiceError, SignInError
from vocboard.app.forms import FieldChecks
from vocboard.app.messaging import outbox
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to, safe_path
from vocboard.app.pages.rendering import render
from vocboard.app.pages.signing_in import answer_to, attempt_of, sign_in_error
from vocboard.app.settings import Settings
from vocboard.app.web import cookies
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.routes import Routes
from vocboard.app.web.visits import AnyVisit, SignedInVisit, Visit

router = Routes()

NEW = "/sign-in/new"
ADDRESS = f"{NEW}/address"
ACCOUNT = "/account/sign-in"
NEW_ACCOUNT_WITHIN = timedelta(minutes=30)  # after signing in at the provider
ADDRESS_WITHIN = timedelta(hours=24)
MAX_NEXT_LENGTH = 1000  # it travels in a cookie
Password = Annotated[str, Form()]


class NewAccountForm(BaseModel):
    """The form for a new account."""

    name: str = ""
    affiliation: str = ""
    terms: str = ""


class LinkForm(BaseModel):
    """The form that links to an account by its password."""

    email: str = ""
    password: str = ""


@router.get("/sign-in/with/{provider}")
async def leave(visit: AnyVisit, provider: str, next: str = "/") -> Response:
    """Send the browser to a provider."""
    path = safe_path(next)
    path = path if len(path) <= MAX_NEXT_LENGTH else "/"
    try:
        address, ticket = await visit.openid.begin(provider, next=path)
    except ServiceError as error:
        return await to_thread.run_sync(sign_in_error, visit, path, error)
    response = go_to(address)
    cookies.PROVIDER_ASKED.set(response, visit.settings, ticket, ANSWER_WITHIN)
    return response


@router.get("/sign-in/with/{provider}/callback")
async def come_back(
    visit: AnyVisit, provider: str, state: str = "", code: str = "", iss: str | None = None
) -> Response:
    """Sign the browser in that comes back from a provider, or link what it has proven.

    The answer only counts in the browser that has asked, whose cookie has its secrets; so a GET may do this.
    """
    settings, openid = visit.settings, visit.openid
    ticket = cookies.PROVIDER_ASKED.of(visit.request, settings)
    path, user = "/", None
    try:
        answer = openid.answer(provider, ticket, state=state, issuer=iss)
        path, links_to = answer.begun["next"], answer.begun.get("links_to")
        if links_to is not None:
            user = visit.user
            if user.id.hex != links_to:
                raise SignInError("You have signed in to another account since. Try again.")
        if not code:  # the person has declined, or the provider has an error
            raise SignInError(f"{openid.provider(provider).title} has not signed you in.")
        use = partial(identities.use_answer, state=answer.state, provider=openid.provider(provider))
        await visit.accounts.write(use, address=visit.address)
        proven = await openid.identity(provider, ticket, code)
        if user is not None:
            await to_thread.run_sync(_link, visit.database, settings, user, proven)
            response: Response = go_to(ACCOUNT, done="linked")
        else:
            attempt = attempt_of(visit, "", "")
            found = await to_thread.run_sync(visit.signing_in.sign_in_as, visit.database, attempt, proven)
            # With an account, the emailed link is no longer needed; it would lead to the provider again.
            page, path = (path, "/") if path.startswith(f"{ADDRESS}?") else (NEW, path)
            response = _new(settings, proven, page, path) if found is None else answer_to(visit, found, path)
    except ServiceError as error:
        if user is not None:
            response = await to_thread.run_sync(partial(_page, visit, error=error))
        else:
            response = await to_thread.run_sync(sign_in_error, visit, path, error)
    cookies.PROVIDER_ASKED.clear(response, settings)
    return response


def _link(database: Database, settings: Settings, user: User, proven: ProvenIdentity) -> None:
    with database.writing() as session:
        stored = queries.locked_user(session, user.id)
        if stored is None:
            raise SignInError("Sign in first.")
        identities.link(session, user=stored, proven=proven, settings=settings)


def _new(settings: Settings, proven: ProvenIdentity, page: str, path: str) -> Response:
    """Lead to the page for identities without an account, or back to the link in the email that has asked for this."""
    response = go_to(page)
    cookies.IDENTITY.set(response, settings, _ticket(settings, proven, path), NEW_ACCOUNT_WITHIN)
    return response


def _tickets(settings: Settings, purpose: str) -> Tickets:
    return Tickets(purpose, server_key=settings.secret_key.get_secret_value())


def _ticket(settings: Settings, proven: ProvenIdentity, path: str) -> str:
    return _tickets(settings, "identity").issue({"proven": asdict(proven), "next": path}, NEW_ACCOUNT_WITHIN)


def _proven(visit: Visit) -> tuple[ProvenIdentity, str] | None:
    """Return the identity that this browser has proven, and where it is led afterwards; None without one."""
    content = _tickets(visit.settings, "identity").content(cookies.IDENTITY.of(visit.request, visit.settings))
    return (ProvenIdentity(**content["proven"]), content["next"]) if content else None


def _too_late(visit: Visit) -> Response:
    return sign_in_error(visit, "/", SignInError("Too much time has passed. Sign in again."))


@router.get(NEW)
def new_page(visit: AnyVisit) -> Response:
    """The choice between an account that there is and a new one."""
    return _new_page(visit)


def _new_page(
    visit: Visit,
    *,
    form: NewAccountForm | None = None,
    form_errors: FormErrors = NO_ERRORS,
    link: LinkForm | None = None,
    link_errors: FormErrors = NO_ERRORS,
    address: str = "",
    address_errors: FormErrors = NO_ERRORS,
) -> Response:
    found = _proven(visit)
    if found is None:
        return _too_late(visit)
    proven, _ = found
    settings = visit.settings
    policy = settings.registration_policy
    with visit.database.reading() as session:
        account = identities.account_of_address(session, proven)
    known = proven.email if account is not None else ""
    return render(
        visit.request,
        "sign_in_new.html",
        status=max(errors.status for errors in (form_errors, link_errors, address_errors)),
        title=settings.title_of(proven.issuer),
        has_account=account is not None,
        email=proven.email if proven.is_email_verified and policy.accepts(proven.email) else None,
        policy=policy,
        terms=Terms.read(settings.terms_file),
        form=(form or NewAccountForm(name=proven.name)).model_dump(),
        form_errors=form_errors,
        link={"email": link.email if link else known},
        link_errors=link_errors,
        address={"address": address or ("" if account else proven.email)},
        address_errors=address_errors,
        mail_directory=settings.mail_directory,
    )


@router.post(NEW, dependencies=[Depends(protect_form)])
def register(visit: AnyVisit, form: Annotated[NewAccountForm, Form()]) -> Response:
    """Create an account for the identity, whose address is verified, and sign in."""
    found = _proven(visit)
    if found is None:
        return _too_late(visit)
    (proven, path), settings = found, visit.settings
    try:
        new = registration.check(
            email=proven.email,
            name=form.name,
            affiliation=form.affiliation,
            password=None,
            policy=settings.registration_policy,
            terms=Terms.read(settings.terms_file),
            accepted=form.terms,
        )
        with visit.database.writing() as session:
            registration.count_attempt(session, email=new.email, address=visit.address)
        signed_in = visit.signing_in.register(visit.database, attempt_of(visit, "", ""), new, proven)
    except ServiceError as error:
        return _new_page(visit, form=form, form_errors=FormErrors.of(error))
    done = "registered-waits" if settings.registration_policy.needs_approval else "registered"
    response = answer_to(visit, signed_in, path, done=done)
    cookies.IDENTITY.clear(response, settings)
    return response


@router.post(f"{NEW}/link", dependencies=[Depends(protect_form)])
async def link_by_password(visit: AnyVisit, form: Annotated[LinkForm, Form()]) -> Response:
    """Sign in with a password, and link the identity to the account; after the code, if it has a second factor."""
    found = _proven(visit)
    if found is None:
        return await to_thread.run_sync(_too_late, visit)
    proven, path = found
    try:
        attempt = attempt_of(visit, form.email, form.password, links=proven)
        signed_in = await visit.signing_in.sign_in(visit.database, attempt)
    except ServiceError as error:
        return await to_thread.run_sync(partial(_new_page, visit, link=form, link_errors=FormErrors.of(error)))
    response = answer_to(visit, signed_in, path)
    cookies.IDENTITY.clear(response, visit.settings)
    return response


@router.post(ADDRESS, dependencies=[Depends(protect_form)])
def send_address_link(visit: AnyVisit, address: Annotated[str, Form()] = "") -> Response:
    """Send a link that verifies an email address for the identity; the response is the same if it has an account."""
    found = _proven(visit)
    if found is None:
        return _too_late(visit)
    (proven, _next), settings = found, visit.settings
    try:
        checks = FieldChecks()
        email = normalised_email(address) or ""
        if not email:
            checks.fail("address", "This is not an email address.")
        elif not settings.registration_policy.accepts(email):
            checks.fail("address", f"Use an address of {' or '.join(settings.registration_policy.domains)}.")
        checks.finish()
        with visit.database.writing() as session:
            registration.count_attempt(session, email=email, address=visit.address)
            secret = _tickets(settings, "address of an identity").issue(
                {"email": email, "issuer": proven.issuer, "subject": proven.subject}, ADDRESS_WITHIN
            )
            outbox.put(
                session,
                to=email,
                template="confirm-identity",
                lifetime=ADDRESS_WITHIN,
                site=settings.public_url,
                title=settings.title_of(proven.issuer),
                link=f"{settings.public_url}{ADDRESS}?token={secret}",
                hours=int(ADDRESS_WITHIN.total_seconds() // 3600),
            )
    except ServiceError as error:
        return _new_page(visit, address=address, address_errors=FormErrors.of(error))
    return go_to(NEW, done="identity-address")


@router.get(ADDRESS)
def verify_address(visit: AnyVisit, token: str = "") -> Response:
    """Note in this browser that the address is verified, if it is that of the identity; nothing else changes."""
    settings = visit.settings
    content = _tickets(settings, "address of an identity").content(token)
    if not content:
        raise links.InvalidLinkError
    found = _proven(visit)
    if found is None or (found[0].issuer, found[0].subject) != (content["issuer"], content["subject"]):
        names = [one.name for one in settings.providers if one.issuer == content["issuer"]]
        if found is not None or not names:
            raise links.InvalidLinkError
        return go_to(f"/sign-in/with/{names[0]}?" + urlencode({"next": f"{ADDRESS}?{urlencode({'token': token})}"}))
    proven, path = found
    verified = ProvenIdentity(proven.issuer, proven.subject, content["email"], True, proven.name)
    response = go_to(NEW)
    cookies.IDENTITY.set(response, settings, _ticket(settings, verified, path), NEW_ACCOUNT_WITHIN)
    return response


@router.get(ACCOUNT)
def account_page(visit: SignedInVisit) -> Response:
    """How one can sign in to the account."""
    return _page(visit)


@router.post(f"{ACCOUNT}/link", dependencies=[Depends(protect_form)])
async def begin_linking(
    visit: SignedInVisit, provider: Annotated[str, Form()] = "", password: Password = ""
) -> Response:
    """Verify the password, and show the link to the provider."""
    try:
        await visit.accounts.verify(visit.user, password, field="password", address=visit.address)
        address, ticket = await visit.openid.begin(provider, next=ACCOUNT, links_to=visit.user.id.hex)
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, visit, error=error))
    leaves_to = {"address": address, "title": visit.openid.provider(provider).title}
    response = await to_thread.run_sync(partial(_page, visit, leaves_to=leaves_to))
    cookies.PROVIDER_ASKED.set(response, visit.settings, ticket, ANSWER_WITHIN)
    return response


@router.post(f"{ACCOUNT}/unlink", dependencies=[Depends(protect_form)])
async def unlink(visit: SignedInVisit, linked: Annotated[str, Form()] = "", unlink_password: Password = "") -> Response:
    """Unlink an identity, after verifying the password."""
    user, accounts = visit.user, visit.accounts
    try:
        await accounts.verify(user, unlink_password, field="unlink_password", address=visit.address)
        await accounts.write(identities.unlink, user=user, identity_id=linked, settings=visit.settings, actor=user)
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, visit, error=error, unlinks=True))
    return go_to(ACCOUNT, done="unlinked")


@router.post(f"{ACCOUNT}/show", dependencies=[Depends(protect_form)])
def show(visit: SignedInVisit, linked: Annotated[str, Form()] = "", is_shown: Annotated[str, Form()] = "") -> Response:
    """Show the ORCID iD on the pages of methods, or show it no longer."""
    with visit.database.writing() as session:
        identities.show(session, user=visit.user, identity_id=linked, is_shown=bool(is_shown))
    return go_to(ACCOUNT, done="saved")


def _page(
    visit: Visit, *, error: ServiceError | None = None, unlinks: bool = False, leaves_to: dict[str, Any] | None = None
) -> Response:
    user, settings = visit.user, visit.settings
    with visit.database.reading() as session:
        linked = identities.identities_of(session, user)
    return render(
        visit.request,
        "account_sign_in.html",
        errors=FormErrors.of(error) if error else NO_ERRORS,
        linked=[(one, settings.title_of(one.issuer), orcid_of(one.issuer, one.subject)) for one in linked],
        providers=settings.providers,
        has_password=user.password_hash != NO_PASSWORD,
        unlinks=unlinks,
        leaves_to=leaves_to,
    )
