"""What organisers of a challenge announce, and questions to them with their answers."""

import uuid

from pydantic import BaseModel, Field
from starlette.responses import RedirectResponse

from vocboard.app.accounts.models import User
from vocboard.app.announcements import announcing, asking, models, queries
from vocboard.app.api.paging import ItemPage, Paging
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import FromObject, Given, Instant
from vocboard.app.challenges import service as challenges
from vocboard.app.paging import paginate
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import SubmittingUser, Viewer
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes(tags=["announcements and questions"])
CHANGING = problem_responses(400, 401, 403, 404, 409, 422)
SENDING = problem_responses(400, 401, 403, 404, 409, 422, 429)


class Announcement(FromObject):
    """An announcement of a challenge's organisers."""

    id: uuid.UUID
    created_at: Instant
    changed_at: Instant = Field(description="When it was last corrected; otherwise `created_at`.")
    title: str
    text: str = Field(description="Markdown without HTML and pictures.")
    by_email: bool = Field(description="Whether entrants were notified, also by email.")


class ChangedAnnouncement(Given):
    """Another title and text of an announcement."""

    title: str = Field(max_length=announcing.MAX_TITLE_LENGTH)
    text: str = Field(max_length=announcing.MAX_TEXT_LENGTH, description="Markdown without HTML and pictures.")


class NewAnnouncement(ChangedAnnouncement):
    """An announcement."""

    email: bool = Field(
        False,
        description="Notify everyone who has submitted to the challenge, also by email unless they have unsubscribed.",
    )


class Question(BaseModel):
    """A question to the organisers of a challenge, with its answer."""

    id: uuid.UUID
    created_at: Instant
    text: str
    answer: str | None = Field(description="Markdown without HTML and pictures; null if there is none yet.")
    answered_at: Instant | None
    public: bool = Field(description="Whether everyone who can see the challenge sees question and answer.")
    own: bool = Field(description="Whether you have asked it.")
    asked_by: str | None = Field(description="Name of the person who has asked, for organisers; otherwise null.")


class NewQuestion(Given):
    """A question to the organisers."""

    text: str = Field(max_length=asking.MAX_QUESTION_LENGTH)


class Answer(Given):
    """An answer to a question."""

    text: str = Field(max_length=asking.MAX_ANSWER_LENGTH, description="Markdown without HTML and pictures.")
    public: bool = Field(
        False, description="Show question and answer to everyone who can see the challenge, without the asker's name."
    )


@router.get("/challenges/{slug}/announcements", responses=problem_responses(401, 403, 404))
def list_announcements(database: DatabaseDep, viewer: Viewer, slug: str, paging: Paging) -> ItemPage[Announcement]:
    """List the announcements of a challenge, the latest first."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, viewer)
        query = queries.announcements_of(challenge)
        found = paginate(session, query, **paging.chosen)
        return paging.page_of(found, Announcement.model_validate)


@router.post("/challenges/{slug}/announcements", status_code=201, responses=SENDING)
def announce(organised: OrganisedByToken, given: NewAnnouncement) -> Announcement:
    """Announce something.

    The same once more, if nothing else was announced since, adds and sends nothing, unless only the second has `email`.
    """
    announcement = organised.change(announcing.announce, **given.model_dump())
    return Announcement.model_validate(announcement)


@router.patch("/challenges/{slug}/announcements/{announcement_id}", responses=CHANGING)
def correct_announcement(
    organised: OrganisedByToken, announcement_id: uuid.UUID, given: ChangedAnnouncement
) -> Announcement:
    """Correct an announcement. Nobody is notified again."""
    changed = organised.change(announcing.correct, announcement_id=announcement_id, **given.model_dump())
    return Announcement.model_validate(changed)


@router.delete("/challenges/{slug}/announcements/{announcement_id}", status_code=204, responses=CHANGING)
def remove_announcement(organised: OrganisedByToken, announcement_id: uuid.UUID) -> None:
    """Remove an announcement."""
    organised.change(announcing.remove, announcement_id=announcement_id)


@router.get(
    "/challenges/{slug}/feed.atom",
    status_code=307,
    response_class=RedirectResponse,
    responses=problem_responses(401, 403, 404),
)
def get_feed(database: DatabaseDep, _: Viewer, slug: str) -> RedirectResponse:
    """Redirect to the Atom feed of a challenge's announcements, which is public; drafts have none."""
    with database.reading() as session:
        challenges.get_visible(session, slug, None)
    return RedirectResponse(f"/challenges/{slug}/feed.atom")


@router.get("/challenges/{slug}/questions", responses=problem_responses(401, 403, 404))
def list_questions(database: DatabaseDep, viewer: Viewer, slug: str, paging: Paging) -> ItemPage[Question]:
    """List questions with public answers, and your own; for organisers all. Open ones come first, then the latest."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, viewer)
        organises = challenges.is_organiser(session, challenge, viewer)
        query = queries.visible_questions(challenge, viewer, organises=organises)
        found = paginate(session, query, **paging.chosen)

    def shown(one: models.Question) -> Question:
        return _shown(
            one,
            own=viewer is not None and one.user_id == viewer.id,
            asked_by=one.user.name if organises and one.user is not None else None,
        )

    return paging.page_of(found, shown)


@router.post("/challenges/{slug}/questions", status_code=201, responses=SENDING)
def ask_question(database: DatabaseDep, user: SubmittingUser, slug: str, given: NewQuestion) -> Question:
    """Ask the organisers. They answer you alone, or publish question and answer without your name."""
    with database.writing() as session:
        challenge = challenges.get_visible(session, slug, user)
        question = asking.ask(session, challenge=challenge, user=user, text=given.text)
    return _shown(question, own=True)


@router.put("/challenges/{slug}/questions/{question_id}/answer", responses=CHANGING)
def answer_question(organised: OrganisedByToken, question_id: uuid.UUID, given: Answer) -> Question:
    """Answer a question, or change its answer and who sees it. The asker is notified of another answer."""
    with organised.writing() as (session, challenge):
        found = asking.answer(
            session, challenge=challenge, user=organised.user, question_id=question_id, **given.model_dump()
        )
        asker = None if found.user_id is None else session.get(User, found.user_id)
        return _shown(found, own=found.user_id == organised.user.id, asked_by=asker.name if asker else None)


@router.delete("/challenges/{slug}/questions/{question_id}", status_code=204, responses=CHANGING)
def remove_question(organised: OrganisedByToken, question_id: uuid.UUID) -> None:
    """Remove a question with its answer."""
    organised.change(asking.remove, question_id=question_id)


def _shown(found: models.Question, *, own: bool, asked_by: str | None = None) -> Question:
    return Question(
        id=found.id,
        created_at=found.created_at,
        text=found.text,
        answer=found.answer,
        answered_at=found.answered_at,
        public=found.is_public,
        own=own,
        asked_by=asked_by,
    )
