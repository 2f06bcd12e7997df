"""The page of a method, and the forms in which its owner describes it and makes declarations."""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Form, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.responses import PlainTextResponse, Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import files
from vocboard.app.challenges.phases import Phase, edition_of_phase
from vocboard.app.errors import ConflictError, InvalidInputError, NotFoundError
from vocboard.app.evaluations import showcase as drawn
from vocboard.app.evaluations.results import incomplete_results, visible_means
from vocboard.app.leaderboards.board import Board, BoardRow
from vocboard.app.leaderboards.current import Boards, HiddenLeaderboardError
from vocboard.app.leaderboards.methods import CitedMethod, PublishedResult, address, cited_method
from vocboard.app.pages.board_rows import Certainty, anchor
from vocboard.app.pages.board_state import PER_PAGE
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, UploadedHashes, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.pages.showcase import FIELD, Gallery, gallery
from vocboard.app.pages.submissions import SubmissionPage, UsersPage, needed
from vocboard.app.participating import describing
from vocboard.app.submissions import queries
from vocboard.app.submissions.forms import as_fields, declaration_labels, read_listed_images
from vocboard.app.submissions.models import Submission
from vocboard.app.web.csrf import FIELD as CSRF_FIELD
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import ServicesDep
from vocboard.app.web.identity import CurrentIdentity, SignedIn
from vocboard.app.web.routes import Routes
from vocboard.evaluator.editions import Competition

router = Routes()


class DescriptionForm(BaseModel):
    """The form, as entered."""

    method_name: str | None = None
    method_description: str = ""
    contributors: str = ""
    affiliation: str = ""
    paper_url: str = ""
    code_url: str = ""
    note: str = ""


async def _declared(request: Request) -> dict[str, str]:
    """Return the fields of the declarations form, as entered."""
    entered = await request.form()
    return {name: value for name, value in entered.items() if isinstance(value, str) and name != CSRF_FIELD}


@dataclass(frozen=True, slots=True)
class PlacedResult:
    """A published result of a method, as its leaderboard shows it.

    Attributes:
        phase: of the submission.
        board: None if the viewer may not see it.
        row: None if the leaderboard does not have the result: it was published after the leaderboard was frozen.
        address: of the row, or of the leaderboard.
    """

    result: PublishedResult
    phase: Phase
    board: Board | None
    row: BoardRow | None
    address: str

    @property
    def interval(self) -> str:
        """The interval of the mean, in per cent; empty if none is shown, or a frozen leaderboard has another mean."""
        certainty = Certainty.of(self.board) if self.board else None
        is_of_mean = self.row is not None and self.row.mean.value == self.result.mean
        return certainty.interval(self.row) if certainty and self.row and is_of_mean else ""

    @property
    def is_tied(self) -> bool:
        """Whether the data do not show that it differs from the first."""
        certainty = Certainty.of(self.board) if self.board else None
        return bool(certainty and self.row and certainty.is_tied(self.row))


def _placed(boards: Boards, result: PublishedResult, viewer: User | None) -> PlacedResult:
    submission, phase, key = result.submission, queries.phase_of(result.submission), result.competition.key
    path = f"/challenges/{submission.challenge.slug}/leaderboards/{key}?phase={phase.key}"
    with suppress(HiddenLeaderboardError, NotFoundError):
        board = boards.read(submission.challenge.slug, key, viewer, phase_key=phase.key).board
        place = board.place_of(submission.id)
        if place is None:
            return PlacedResult(result, phase, board, None, path)
        page = f"&page={place // PER_PAGE + 1}" if place >= PER_PAGE else ""
        return PlacedResult(result, phase, board, board.rows[place], f"{path}{page}#{anchor(submission.id)}")
    return PlacedResult(result, phase, None, None, path)


def _matrix(
    placed: Sequence[PlacedResult],
) -> tuple[tuple[Phase, ...], Mapping[str, Mapping[str, PlacedResult]]]:
    """Return the phases with results, the latest first, and the results by competition and phase."""
    phases = {one.phase.key: one.phase for one in placed}
    rows: dict[str, dict[str, PlacedResult]] = {}
    for one in placed:  # of two in one phase, the latest is on the leaderboard, and first here
        rows.setdefault(one.result.competition.key, {}).setdefault(one.phase.key, one)
    return tuple(phases.values()), rows


@dataclass(frozen=True, slots=True)
class Showcase:
    """A method's results on the images of its challenge's showcase, in one competition and phase.

    Attributes:
        choices: names of the competitions and phases that have drawings, by what the address says.
        chosen: the one that is shown.
        is_published: whether others see it, too.
    """

    choices: Mapping[str, tuple[Competition, Phase]]
    chosen: str
    gallery: Gallery
    is_published: bool


def _showcase(session: Session, cited: CitedMethod, viewer: User | None, fields: Mapping[str, str]) -> Showcase | None:
    """Return the showcase that an address asks for; None if there are no drawings.

    It has the published results; for the owner also the latest ones where nothing is published.
    """
    images = files.showcase_of(session, cited.method.challenge_id)
    if not images:
        return None
    drawings = drawn.visible_drawings(session, {one.id for one in (*cited.published, *cited.versions)}, viewer)
    choices: dict[str, tuple[Competition, Phase]] = {}
    sources: dict[str, Submission] = {}
    for version in (*cited.published, *cited.versions):
        phase, is_published = queries.phase_of(version), version in cited.published
        known = edition_of_phase(version.challenge, phase).competitions
        for key in drawings.get(version.id, {}):
            name = f"{phase.key}.{key}"
            if key in known and name not in sources and (not is_published or key in version.published_competitions):
                choices[name], sources[name] = (known[key], phase), version
    if not choices:
        return None
    chosen = fields.get("showcase", "")
    chosen = chosen if chosen in choices else next(iter(choices))
    source, (competition, phase) = sources[chosen], choices[chosen]
    edition = edition_of_phase(source.challenge, phase)
    found = gallery(source.challenge, edition, competition, images, [drawings[source.id]], per_image=fields.get(FIELD))
    return Showcase(choices, chosen, found, competition.key in source.published_competitions)


@router.get("/methods/{method_id}")
def method_page(request: Request, services: ServicesDep, identity: CurrentIdentity, method_id: uuid.UUID) -> Response:
    """Show where a method is on the leaderboards, its paper and code, and how to cite it."""
    site = services.settings.public_url
    with services.database.reading() as session:
        cited = cited_method(session, method_id, identity.user, site=site)
        means = visible_means(session, cited.versions, for_organisers=False)
        incomplete = incomplete_results(session, cited.versions)
        showcase = _showcase(session, cited, identity.user, request.query_params)
    placed = [_placed(services.boards, one, identity.user) for one in cited.results]
    phases, matrix = _matrix(placed)
    numbers = {one.id: len(cited.versions) - place for place, one in enumerate(cited.versions)}
    return render(
        request,
        "method.html",
        cited=cited,
        means=means,
        incomplete=incomplete,
        numbers=numbers,
        phases=phases,
        matrix=matrix,
        showcase=showcase,
        address=address(site, method_id),
    )


@router.get("/submissions/{submission_id}/edit")
def description_page(page: UsersPage, user: SignedIn) -> Response:
    """Show the form to describe a submission and its method."""
    with page.database.reading() as session:
        submission = describing.get_to_change(session, page.submission_id, user)
    form = describing.description_of(submission)
    return render(page.request, "describe.html", errors=NO_ERRORS, submission=submission, form=form)


@router.post("/submissions/{submission_id}/edit", dependencies=[Depends(protect_form)])
def describe(page: UsersPage, user: SignedIn, form: Annotated[DescriptionForm, Form()]) -> Response:
    """Change what is said about a submission and its method."""
    changes = form.model_dump(exclude_none=True)
    try:
        with page.database.writing() as session:
            describing.describe(session, submission_id=page.submission_id, user=user, changes=changes)
    except (InvalidInputError, ConflictError) as error:
        with page.database.reading() as session:
            submission = describing.get_to_change(session, page.submission_id, user)
        return render(page.request, "describe.html", errors=FormErrors.of(error), submission=submission, form=changes)
    return go_to(page.path, done="described")


@router.get("/submissions/{submission_id}/flickr-images")
def flickr_images(page: UsersPage, user: SignedIn) -> Response:
    """Return the declared hashes of images from flickr, for the owner and the organisers."""
    with page.database.reading() as session:
        return PlainTextResponse(describing.listed_images(session, submission_id=page.submission_id, user=user))


@router.get("/submissions/{submission_id}/declarations")
def declarations_page(page: UsersPage, user: SignedIn) -> Response:
    """Show the form to add or correct declarations."""
    return _declarations_page(page, user)


@router.post("/submissions/{submission_id}/declarations", dependencies=[Depends(protect_form)])
def declare(
    page: UsersPage, user: SignedIn, form: Annotated[dict[str, str], Depends(_declared)], hashes: UploadedHashes
) -> Response:
    """Add or correct declarations."""
    changes = {**form, "flickr_image_hashes": read_listed_images(hashes)}
    try:
        with page.database.writing() as session:
            describing.declare(session, submission_id=page.submission_id, user=user, changes=changes)
    except (InvalidInputError, ConflictError) as error:
        return _declarations_page(page, user, form, FormErrors.of(error))
    return go_to(page.path, done="declared")


def _declarations_page(
    page: SubmissionPage, user: User, form: Mapping[str, str] | None = None, errors: FormErrors = NO_ERRORS
) -> Response:
    with page.database.reading() as session:
        submission = describing.get_to_change(session, page.submission_id, user)
    asked = needed(submission, [entry.competition for entry in submission.entries])
    return render(
        page.request,
        "declarations.html",
        errors=errors,
        submission=submission,
        needed=asked,
        labels=declaration_labels(asked),
        form=as_fields(submission.declarations) if form is None else form,
    )
