"""Pages of submissions: the user's list, and details with what owners and organisers can do."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Form, Query, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.errors import ConflictError, InvalidInputError, LimitedError, ServiceError
from vocboard.app.evaluations.results import incomplete_results, visible_means
from vocboard.app.organising import moderation
from vocboard.app.pages import wording
from vocboard.app.pages.board_state import PER_PAGE
from vocboard.app.pages.filters import page_number
from vocboard.app.pages.findings import findings
from vocboard.app.pages.forms import go_to
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import stored
from vocboard.app.pages.result_comparison import Sort, compare, placements_of, tiles
from vocboard.app.pages.results import result_view
from vocboard.app.participating import publishing
from vocboard.app.participating import withdrawing as service
from vocboard.app.participating.describing import asked_by_others_alone
from vocboard.app.rescores import service as rescores
from vocboard.app.submissions import queries
from vocboard.app.submissions.downloading import download
from vocboard.app.submissions.forms import Needed, needed_by, statements
from vocboard.app.submissions.models import WITH_RESULT, State, Submission
from vocboard.app.submissions.queue import queue_position
from vocboard.app.web.attachments import attachment
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, StoreDep, services_of
from vocboard.app.web.identity import CurrentIdentity, Organiser, SignedIn
from vocboard.app.web.routes import Routes
from vocboard.app.web.shown_once import forget, show_once, shown_once

router = Routes()


class SubmissionPage:
    """The page of the submission in a request's path, for its user; None for a visitor."""

    def __init__(self, request: Request, user: User | None, submission_id: uuid.UUID) -> None:
        services = services_of(request)
        self.request, self.user, self.submission_id = request, user, submission_id
        self.database, self.settings, self.boards = services.database, services.settings, services.boards
        self.path = f"/submissions/{submission_id}"

    def act(self, action: Callable[..., Any], *, done: str, **given: str) -> Response:
        """Do something with the submission and show its page again."""
        try:
            with self.database.writing() as session:
                action(session, submission_id=self.submission_id, user=self.user, **given)
        except (ConflictError, InvalidInputError, LimitedError) as error:
            return self.show(refusal=error)
        return go_to(self.path, done=done)

    def show(
        self,
        *,
        competition: str | None = None,
        sort: str = Sort.CLASS,
        curves: Sequence[str] = (),
        refusal: ServiceError | None = None,
        anonymous_address: str | None = None,
    ) -> Response:
        """Return the page.

        Args:
            competition: whose result is shown; by default the first.
            sort: how its classes are sorted; what is unknown is ignored.
            curves: classes whose curves are in one plot.
            refusal: why something that was asked for was not done.
            anonymous_address: a link that was just created, and is shown only now.
        """
        user = self.user
        with self.database.reading() as session:
            submission = queries.get_for(session, self.submission_id, user)
            access = queries.access_of(session, submission, user)
            own, organised = access.is_own, access.is_organised
            shown = queries.visible_competitions(submission, access)
            competitions = queries.edition_of_submission(submission).competitions
            evaluation = view = comparison = None
            if submission.state in WITH_RESULT:
                evaluation, view = result_view(session, submission, competitions, competition, access, curves=curves)
            context: dict[str, Any] = {
                "actions": actions_of(submission, queries.replaceable_by(session, submission)) if own else [],
                "organisers_actions": organisers_actions(
                    submission, is_on_frozen_board=moderation.is_on_frozen_board(session, submission)
                )
                if organised
                else [],
                "copies": queries.copies_of(session, submission) if organised else [],
                "position": queue_position(session, submission),
                # Organisers have no page of a method while others see none of its results.
                "is_cited": submission.published_competitions
                and (own or queries.versions_of(session, submission.method, owner=None)),
            }
        if view is not None and evaluation is not None:
            placed = placements_of(self.database, self.boards, submission, evaluation.results, user)
            context["tiles"] = tiles(evaluation.results, view.decimals, placed)
            view, comparison = compare(
                self.database,
                submission,
                view,
                user,
                placed=placed.get(view.result.competition),
                is_managed=own or organised,
                sort=Sort(sort) if sort in set(Sort) else Sort.CLASS,
            )
            context["findings"] = findings(view, comparison)
        return render(
            self.request,
            "submission.html",
            status=refusal.status if refusal else 200,
            message=wording.in_words(refusal) if refusal else None,
            anonymous_address=anonymous_address,
            per_page=PER_PAGE,
            submission=submission,
            own=own,
            managed=own or organised,
            organised=organised,
            shown_competitions=shown,
            hidden=asked_by_others_alone(submission, shown),
            declared=statements(submission.declared, [one.declaration for one in needed(submission, shown).values()]),
            warning_groups=stored(submission.warnings),
            competitions=competitions,
            evaluation=evaluation,
            view=view,
            comparison=comparison,
            **context,
        )


async def _for_everybody(request: Request, identity: CurrentIdentity, submission_id: uuid.UUID) -> SubmissionPage:
    return SubmissionPage(request, identity.user, submission_id)


async def _for_users(request: Request, user: SignedIn, submission_id: uuid.UUID) -> SubmissionPage:
    return SubmissionPage(request, user, submission_id)


VisiblePage = Annotated[SubmissionPage, Depends(_for_everybody)]
UsersPage = Annotated[SubmissionPage, Depends(_for_users)]
Reason = Annotated[str, Form()]


def _chosen(
    competitions: Annotated[tuple[str, ...], Form()] = (), is_choice: Annotated[bool, Form()] = False
) -> tuple[str, ...] | None:
    """The ticked competitions of a form that lists them; None if it lists none."""
    return competitions if is_choice else None


ChosenCompetitions = Annotated[tuple[str, ...] | None, Depends(_chosen)]


@router.get("/submissions")
def my_submissions(request: Request, database: DatabaseDep, user: SignedIn) -> Response:
    """List the user's own submissions."""
    with database.reading() as session:
        found = queries.mine(session, user=user, page=page_number(request))
        means = visible_means(session, found.items, for_organisers=False)
        incomplete = incomplete_results(session, found.items)
    return render(request, "submissions.html", page=found, means=means, incomplete=incomplete)


@router.get("/submissions/{submission_id}")
def submission_page(
    page: VisiblePage,
    competition: str | None = None,
    sort: str = Sort.CLASS,
    curve: Annotated[tuple[str, ...], Query()] = (),
) -> Response:
    """One submission."""
    address = shown_once(page.request, page.settings)
    response = page.show(competition=competition, sort=sort, curves=curve, anonymous_address=address)
    if address is not None:
        forget(response, page.settings)
    return response


@router.post("/submissions/{submission_id}/publish", dependencies=[Depends(protect_form)])
def publish(page: UsersPage, chosen: ChosenCompetitions, replace: Annotated[bool, Form()] = False) -> Response:
    """Publish the result on the leaderboards."""
    change = partial(publishing.publish, competitions=chosen, replace=replace)
    return page.act(change, done="replaced" if replace else "published")


@router.post("/submissions/{submission_id}/unpublish", dependencies=[Depends(protect_form)])
def unpublish(
    page: UsersPage,
    user: SignedIn,
    chosen: ChosenCompetitions,
    reason: Reason = "",
    hold_back: Annotated[bool, Form()] = False,
) -> Response:
    """Remove the result from the leaderboards: temporarily if it is the user's own, otherwise permanently.

    Organisers' forms have `hold_back`: what they say holds for a result of their own, too.
    """
    if hold_back:
        return page.act(moderation.hold_back, done="held-back", reason=reason)
    with page.database.reading() as session:
        is_own = queries.is_own(session, queries.get_for(session, page.submission_id, user), user)
    change = partial(moderation.unpublish, competitions=chosen)
    return page.act(change, done="unpublished" if is_own else "held-back", reason=reason)


@router.get("/submissions/{submission_id}/withdraw")
def withdrawal_page(page: UsersPage, user: SignedIn) -> Response:
    """Confirmation page of withdrawing."""
    kept_for = page.settings.withdrawn_archives_kept_for
    try:
        with page.database.reading() as session:
            submission, found = service.consequences(session, page.submission_id, user, archive_kept_for=kept_for)
    except ConflictError as error:
        return page.show(refusal=error)
    return render(page.request, "withdraw.html", submission=submission, consequences=found)


@router.post("/submissions/{submission_id}/withdraw", dependencies=[Depends(protect_form)])
def withdraw(page: UsersPage) -> Response:
    """Withdraw the submission."""
    return page.act(service.withdraw, done="withdrawn")


@router.post("/submissions/{submission_id}/anonymous-link", dependencies=[Depends(protect_form)])
def create_anonymous_link(page: UsersPage, user: SignedIn) -> Response:
    """Create an anonymous link, which the submission's page shows once."""
    try:
        with page.database.writing() as session:
            token = publishing.create_anonymous_link(session, submission_id=page.submission_id, user=user)
    except ConflictError as error:
        return page.show(refusal=error)
    response, secret = go_to(page.path), publishing.anonymous_address(page.settings.public_url, token)
    show_once(response, page.request, page.settings, page=page.path, secret=secret)
    return response


@router.post("/submissions/{submission_id}/anonymous-link/revoke", dependencies=[Depends(protect_form)])
def revoke_anonymous_link(page: UsersPage) -> Response:
    """Revoke the anonymous link."""
    response = page.act(publishing.revoke_anonymous_link, done="link-revoked")
    forget(response, page.settings)
    return response


@router.get("/submissions/{submission_id}/archive")
def archive(page: UsersPage, store: StoreDep, user: SignedIn) -> Response:
    """Return the archive as it was uploaded, for the owner and the organisers."""
    kept_for = page.settings.withdrawn_archives_kept_for
    found = download(page.database, store, submission_id=page.submission_id, user=user, withdrawn_kept_for=kept_for)
    return attachment(found)


@router.post("/submissions/{submission_id}/disqualify", dependencies=[Depends(protect_form)])
def disqualify(page: UsersPage, reason: Reason = "") -> Response:
    """Take the submission off the leaderboards until an organiser lifts it."""
    change = partial(moderation.disqualify, site=page.settings.public_url)
    return page.act(change, done="disqualified", reason=reason)


@router.post("/submissions/{submission_id}/reinstate", dependencies=[Depends(protect_form)])
def reinstate(page: UsersPage, reason: Reason = "") -> Response:
    """Lift the disqualification."""
    change = partial(moderation.reinstate, site=page.settings.public_url)
    return page.act(change, done="reinstated", reason=reason)


@router.post("/submissions/{submission_id}/fail", dependencies=[Depends(protect_form)])
def fail(page: UsersPage, reason: Reason = "") -> Response:
    """Say that something went wrong on the server's side."""
    return page.act(moderation.fail, done="failed", reason=reason)


@router.post("/submissions/{submission_id}/allow-publishing", dependencies=[Depends(protect_form)])
def allow_publishing(page: UsersPage) -> Response:
    """Let the owner of a submission that an organiser has unpublished publish it again."""
    return page.act(moderation.allow_publishing, done="allowed")


@router.post("/submissions/{submission_id}/evaluate-again", dependencies=[Depends(protect_form)])
def evaluate_again(page: UsersPage, user: Organiser, reason: Reason = "") -> Response:
    """Evaluate the submission again."""
    try:
        with page.database.writing() as session:
            submission, rescore = rescores.evaluate_again(
                session, submission_id=page.submission_id, user=user, reason=reason
            )
    except (ConflictError, InvalidInputError) as error:
        return page.show(refusal=error)
    if rescore is None:
        return go_to(page.path, done="queued-again")
    return go_to(f"/organise/{submission.challenge.slug}/rescores/{rescore.id}")


@router.get("/anonymous/{token}")
def anonymous_page(
    request: Request,
    database: DatabaseDep,
    token: str,
    competition: str | None = None,
    curve: Annotated[tuple[str, ...], Query()] = (),
) -> Response:
    """Show the scores of an anonymous link, regardless of who is signed in."""
    with database.reading() as session:
        submission = queries.by_anonymous_token(session, token)
        competitions = queries.edition_of_submission(submission).competitions
        visitor = queries.Access()
        evaluation, view = result_view(
            session, submission, competitions, competition, visitor, curves=curve, is_by_link=True
        )
    response = render(
        request,
        "anonymous.html",
        challenge_title=submission.challenge.title,
        evaluation=evaluation,
        competitions=competitions,
        view=view,
        tiles=tiles(evaluation.results, submission.challenge.decimals) if evaluation else [],
        findings=findings(view, None) if view else [],
    )
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def needed(submission: Submission, competitions: Iterable[str]) -> dict[str, Needed]:
    """Return what competitions of a submission ask for, by name."""
    known = queries.edition_of_submission(submission).competitions
    return needed_by(known[key] for key in competitions)


@dataclass(frozen=True, slots=True)
class Action:
    """A button of a submission's page.

    Attributes:
        warning: asks before it acts.
        reason: whether it asks for a reason: "required", "optional" or not.
        choices: competitions to choose from, all chosen at first; empty if there is no choice.
        fields: hidden fields of its form.
        is_page: whether it leads to a page of its own, which asks.
    """

    path: str
    name: str
    style: str
    warning: str | None = None
    reason: str | None = None
    choices: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    is_page: bool = False


def actions_of(submission: Submission, replaced: Sequence[Submission] = ()) -> list[Action]:
    """What its owner can do with a submission in its state.

    Args:
        replaced: published submissions of the same method whose place it can take.
    """
    found: list[Action] = []
    if submission.challenge.archived_at is not None:
        return found
    if submission.state is State.SCORED and submission.held_back_at is None and not submission.is_rehearsal:
        found += _publishing(submission, replaced)
    if submission.published_at is not None:
        found.append(Action("unpublish", "Unpublish", "plain"))
        if len(submission.published_competitions) > 1:
            found.append(Action("unpublish", "Unpublish some", "plain", choices=submission.published_competitions))
    if submission.state in {State.QUEUED, State.EVALUATING, State.SCORED}:
        found.append(Action("withdraw", "Withdraw", "danger", is_page=True))
    return found


def _publishing(submission: Submission, replaced: Sequence[Submission]) -> Iterator[Action]:
    published = submission.published_competitions
    private = tuple(entry.competition for entry in submission.entries if entry.competition not in published)
    if not private:
        return
    choices = private if len(private) > 1 else ()
    if not replaced:
        yield Action("publish", "Publish the rest" if published else "Publish", "")
        if choices:
            yield Action("publish", "Publish some", "plain", choices=choices)
        return
    what = "; ".join(
        f"that of {other.created_at:%-d %b %Y, %H:%M} UTC in "
        f"{', '.join(key for key in other.published_competitions if key in private)}"
        for other in replaced
    )
    warning = f"This result takes the place of {what}, which is unpublished in the same step."
    yield Action("publish", "Replace published result", "", warning, choices=choices, fields={"replace": "true"})


def organisers_actions(submission: Submission, *, is_on_frozen_board: bool) -> list[Action]:
    """What organisers of its challenge can do about a submission in its state.

    Args:
        is_on_frozen_board: whether a frozen leaderboard shows it.
    """
    found: list[Action] = []
    if submission.challenge.archived_at is not None:
        return found
    frozen = " Frozen leaderboards no longer show it, and say that they were corrected." if is_on_frozen_board else ""
    if submission.published_at is not None or is_on_frozen_board:
        text = "Its owner sees the reason and cannot publish it again until an organiser allows it." + frozen
        found.append(Action("unpublish", "Unpublish", "plain", text, "optional", fields={"hold_back": "true"}))
    if submission.held_back_at is not None and submission.state is not State.DISQUALIFIED:
        found.append(Action("allow-publishing", "Allow publishing", "plain"))
    if submission.state is State.DISQUALIFIED:
        text = "The submission is as it was before; if it was published, it is published again."
        found.append(Action("reinstate", "Lift disqualification", "plain", text, "optional"))
    if submission.state in {State.QUEUED, State.EVALUATING, State.SCORED}:
        text = "It cannot be published until an organiser lifts this. Its owner sees the reason." + frozen
        found.append(Action("disqualify", "Disqualify", "danger", text, "required"))
        text = "For errors on our side. Its owner sees the reason and gets the quota back. You can evaluate it again."
        text += frozen
        found.append(Action("fail", "Mark as failed", "danger", text, "required"))
    return found
