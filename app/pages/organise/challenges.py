"""The organisers' area: their challenges, and how each is set up."""

from functools import partial
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.accounts.registration import may_approve
from vocboard.app.challenges import ground_truth_versions as versions
from vocboard.app.challenges import queries
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.editions import own_edition
from vocboard.app.challenges.ground_truth import needs_confirmation
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, TruthState
from vocboard.app.challenges.organisers import invitations_of
from vocboard.app.database import Database, now
from vocboard.app.errors import ForbiddenError, InvalidInputError, NotFoundError, ServiceError
from vocboard.app.intake.multipart import StreamedForm
from vocboard.app.intake.organisers import take_ground_truth
from vocboard.app.overview import submissions as overview
from vocboard.app.pages import wording
from vocboard.app.pages.challenges import listed, timeline
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, UploadedEdition, go_to
from vocboard.app.pages.organise import checklist
from vocboard.app.pages.organise.challenge_form import STATISTICS, VISIBILITIES, ZONES, ChallengeForm
from vocboard.app.pages.organise.phase_fields import TYPED_AS, choices, done_with
from vocboard.app.pages.organise.truth_tables import truth_tables
from vocboard.app.pages.organise.truth_versions import changes_by_itself, current_versions, failed_import, state_of
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import stored
from vocboard.app.rescores import queries as rescores
from vocboard.app.rescores.attention import attention
from vocboard.app.rescores.models import OPEN
from vocboard.app.rescores.usable import awaits_confirmation
from vocboard.app.settings import Settings
from vocboard.app.web.csrf import FIELD, ForgedRequestError, protect_form, verify_csrf
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep, SettingsDep
from vocboard.app.web.identity import Creator, Organiser
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.tasks.registries.definitions import TASKS

router = APIRouter(prefix="/organise")


@router.get("")
def organised_challenges(request: Request, database: DatabaseDep, user: Organiser) -> Response:
    """List the challenges that the user organises."""
    with database.reading() as session:
        found = challenges.organised_challenges(session, user)
        invitations = invitations_of(session, user)
        approves = may_approve(session, user)
    return render(
        request,
        "organise/challenges.html",
        challenges=listed(found),
        invitations=invitations,
        approves_registrations=approves,
    )


@router.get("/new")
def new_challenge_page(request: Request, _: Creator) -> Response:
    """Show the form for a new challenge."""
    return _form_page(request, ChallengeForm(), None, NO_ERRORS)


@router.post("/new", dependencies=[Depends(protect_form)])
def create_challenge(
    request: Request,
    database: DatabaseDep,
    user: Creator,
    form: Annotated[ChallengeForm, Form()],
    edition_file: UploadedEdition,
) -> Response:
    """Create a challenge."""
    form.edition_text = edition_file or form.edition_text.strip()
    own = form.edition_text or None
    try:
        rules = form.rules()
        with database.writing() as session:
            challenge = challenges.create(
                session,
                organiser=user,
                slug=form.slug,
                edition="" if own else form.edition,
                edition_file=own,
                rules=rules,
            )
    except ForbiddenError:
        raise
    except ServiceError as error:
        return _form_page(request, form, None, FormErrors.of(error))
    return go_to(f"/organise/{challenge.slug}", done="created")


@router.get("/{slug}")
def organised_challenge(
    request: Request,
    database: DatabaseDep,
    settings: SettingsDep,
    user: Organiser,
    slug: str,
    truth: str = MAIN_PHASE,
) -> Response:
    """One challenge: its set-up and its ground truth."""
    return challenge_page(request, database, settings, user, slug, truth=truth)


@router.get("/{slug}/edit")
def edit_page(request: Request, database: DatabaseDep, user: Organiser, slug: str) -> Response:
    """Show the form to edit a challenge."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
    return _form_page(request, ChallengeForm.of(challenge), challenge, NO_ERRORS)


@router.post("/{slug}/edit", dependencies=[Depends(protect_form)])
def edit(
    request: Request, database: DatabaseDep, user: Organiser, slug: str, form: Annotated[ChallengeForm, Form()]
) -> Response:
    """Change a challenge."""
    try:
        rules = form.rules()
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            done = done_with(challenge, challenges.phase_named(challenge, MAIN_PHASE), rules) or "saved"
            challenges.update(session, challenge=challenge, user=user, rules=rules)
    except (ForbiddenError, NotFoundError):
        raise
    except ServiceError as error:
        with database.reading() as session:
            challenge = challenges.get_organised(session, slug, user)
        return _form_page(request, form, challenge, FormErrors.of(error))
    return go_to(f"/organise/{slug}", done=done)


@router.post("/{slug}/ground-truth")
async def upload_ground_truth(
    request: Request,
    database: DatabaseDep,
    settings: SettingsDep,
    intake: IntakeDep,
    user: Organiser,
    slug: str,
    phase: str = MAIN_PHASE,
) -> Response:
    """Receive a development kit tree, which is encrypted while it arrives."""

    def before_file(form: StreamedForm) -> None:
        verify_csrf(request, form.value(FIELD))

    try:
        taken = await take_ground_truth(intake, request, slug=slug, user=user, phase_key=phase, before_file=before_file)
    except (ForbiddenError, NotFoundError, ForgedRequestError):
        raise
    except ServiceError as error:
        page = partial(
            challenge_page, request, database, settings, user, slug, truth=phase, truth_errors=FormErrors.of(error)
        )
        return await to_thread.run_sync(page)
    if taken.rescore_id is not None:
        return go_to(f"/organise/{slug}/rescores/{taken.rescore_id}")
    return go_to(f"/organise/{slug}", done="truth")


def _form_page(request: Request, form: ChallengeForm, challenge: Challenge | None, errors: FormErrors) -> Response:
    known = [editions.load(name) for name in editions.names()]
    return render(
        request,
        "organise/form.html",
        status=errors.status,
        challenge=challenge,
        form=form.model_dump(),
        wrong={TYPED_AS.get(name, name): text for name, text in errors.wrong.items()},
        message=errors.message,
        editions=known,
        visibilities=VISIBILITIES,
        zones=ZONES,
        statistics=STATISTICS,
        **choices(challenges.edition_of(challenge) if challenge else _edition_of(form)),
    )


def _edition_of(form: ChallengeForm) -> Edition:
    """The edition that was chosen; the default one while there is none that can be read."""
    try:
        return own_edition(form.edition_text) if form.edition_text else editions.load(form.edition)
    except (editions.EditionFileError, editions.UnknownEditionError):
        return editions.load(ChallengeForm().edition)


def _tree_folders(challenge: Challenge) -> list[str]:
    """Return the folders that a tree needs for the challenge's tasks, in addition to `ImageSets`."""
    known = challenges.edition_of(challenge).competitions
    tasks = dict.fromkeys(known[key].task for key in challenge.main_phase.competition_keys)
    return list(dict.fromkeys(folder for task in tasks for folder in TASKS[task].tree_folders))


def challenge_page(
    request: Request,
    database: Database,
    settings: Settings,
    user: User,
    slug: str,
    *,
    truth: str = MAIN_PHASE,
    truth_errors: FormErrors = NO_ERRORS,
    errors: FormErrors = NO_ERRORS,
    refusal: ServiceError | None = None,
    reason: str = "",
) -> Response:
    """Return the page of a challenge that the user organises.

    Args:
        truth: key of the phase that ground truth can be uploaded for.
        truth_errors: errors of the upload of ground truth.
        errors: errors of the upload of an edition file.
        refusal: why another action was rejected.
        reason: what was typed in the form of a changed edition.
    """
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        listed_versions = challenges.ground_truth_versions(session, challenge)
        current = challenges.current_versions(session, challenge)
        has_read_truth = queries.has_read_truth(session, challenge.id)
        to_do = checklist.steps(session, challenge, listed_versions)
        numbers = overview.counts(session, challenge)
        submitted_to = {
            each.id for each in challenges.phases_of(challenge) if queries.is_submitted_to(session, each.id)
        }
        all_rescores = rescores.of_challenge(session, challenge)
        need_attention = {one.id for one in all_rescores if attention(one)}
    at = now()
    phase = challenges.current_phase(challenge, at)
    with_truth = [each for each in challenges.phases_of(challenge) if each.has_own_truth]
    changing = {
        item.id
        for item in listed_versions
        if changes_by_itself(item, challenge, current.get(item.phase_id), item.phase_id in submitted_to)
    }
    return render(
        request,
        "organise/challenge.html",
        status=max(errors.status, truth_errors.status) if refusal is None else refusal.status,
        refusal=wording.fields_in_words(refusal) if isinstance(refusal, InvalidInputError) else refusal,
        challenge=challenge,
        phase=phase,
        state=phase.state(at),
        state_name=wording.PHASE_STATES[phase.state(at)],
        timeline=timeline(challenge, at),
        steps=to_do,
        steps_left=checklist.progress(to_do),
        at=at,
        versions=listed_versions,
        warnings={item.id: stored(item.warnings) for item in listed_versions if item.warnings},
        unscorable={
            item.id: versions.unscorable(challenge, item) for item in listed_versions if item.state is TruthState.READY
        },
        tables={item.id: truth_tables(item.summary) for item in listed_versions},
        needs_confirmation=needs_confirmation,
        submitted_to=submitted_to,
        main_phase=challenges.phase_named(challenge, MAIN_PHASE),
        has_read_truth=has_read_truth,
        current=current,
        current_ids={version.id for version in current.values()},
        truth_phases=with_truth,
        truth_phase=next((each for each in with_truth if each.key == truth), with_truth[0]),
        phase_titles={each.id: each.title for each in challenges.phases_of(challenge)},
        rescores=all_rescores,
        to_confirm={one.id for one in all_rescores if awaits_confirmation(one, challenge)},
        need_attention=need_attention,
        open_rescore=next((one for one in all_rescores if one.submission_id is None and one.state in OPEN), None),
        failures={item.id: failed_import(item.problems or ()) for item in listed_versions},
        changing=changing,
        scored_with=list(current_versions(challenge, current, submitted_to)),
        state_of=partial(state_of, challenge=challenge),
        numbers=numbers,
        tree_folders=_tree_folders(challenge),
        upload_limit=settings.ground_truth_limit_bytes,
        truth_errors=truth_errors,
        wrong=errors.wrong,
        reason=reason,
    )
