"""What organisers announce on a challenge's pages and in its feed, and questions to them."""

from typing import Annotated

from fastapi import Depends, Form, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.announcements import asking, queries
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError, LimitedError
from vocboard.app.pages.challenges import read_challenge, shown_on_all_tabs
from vocboard.app.pages.filters import page_number
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import environment, render
from vocboard.app.paging import paginate
from vocboard.app.web.cached_responses import Rendering, answer
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import CurrentIdentity, SignedIn
from vocboard.app.web.routes import Routes

router = Routes("/challenges/{slug}")
PER_PAGE = 20
IN_FEED = 50  # announcements


@router.get("/announcements")
def announcements_page(request: Request, database: DatabaseDep, identity: CurrentIdentity, slug: str) -> Response:
    """All announcements of a challenge."""
    read = read_challenge(database, slug, identity.user)
    with database.reading() as session:
        found = paginate(
            session, queries.announcements_of(read.challenge), page=page_number(request), per_page=PER_PAGE
        )
    return render(request, "challenge_announcements.html", page=found, **shown_on_all_tabs(read, now()))


@router.get("/questions")
def questions_page(request: Request, database: DatabaseDep, identity: CurrentIdentity, slug: str) -> Response:
    """Questions with public answers, and the viewer's own."""
    return _questions_page(request, database, slug, identity.user)


@router.post("/questions", dependencies=[Depends(protect_form)])
def ask(
    request: Request,
    database: DatabaseDep,
    user: SignedIn,
    slug: str,
    text: Annotated[str, Form()] = "",
) -> Response:
    """Ask the organisers."""
    try:
        with database.writing() as session:
            challenge = challenges.get_visible(session, slug, user)
            asking.ask(session, challenge=challenge, user=user, text=text)
    except (ConflictError, ForbiddenError, InvalidInputError, LimitedError) as error:
        return _questions_page(request, database, slug, user, errors=FormErrors.of(error), text=text)
    return go_to(f"/challenges/{slug}/questions", done="asked")


@router.get("/feed.atom")
def feed(request: Request, database: DatabaseDep, settings: SettingsDep, slug: str) -> Response:
    """The latest announcements as an Atom feed (RFC 4287), which shows everyone what visitors see: none of drafts."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, None)
        found = queries.latest_announcements(session, challenge, limit=IN_FEED)
    content = (
        environment()
        .get_template("feed.atom")
        .render(
            challenge=challenge,
            announcements=found,
            changed_at=max((one.changed_at for one in found), default=challenge.created_at),
            organisers=[line.strip() for line in challenge.organised_by.splitlines() if line.strip()],
            address=f"{settings.public_url}/challenges/{slug}",
        )
    )
    return answer(request, Rendering.of(content.encode(), "application/atom+xml"), {"Cache-Control": "no-cache"})


def _questions_page(
    request: Request,
    database: Database,
    slug: str,
    user: User | None,
    *,
    errors: FormErrors = NO_ERRORS,
    text: str = "",
) -> Response:
    read = read_challenge(database, slug, user)
    with database.reading() as session:
        # Organisers see here what others see; what waits for them is among their own pages.
        visible = queries.visible_questions(read.challenge, user, organises=False)
        found = paginate(session, visible, page=page_number(request), per_page=PER_PAGE)
    return render(
        request,
        "challenge_questions.html",
        errors=errors,
        form={"text": text},
        page=found,
        user=user,
        max_length=asking.MAX_QUESTION_LENGTH,
        **shown_on_all_tabs(read, now()),
    )
