"""The organisers' page of one challenge: what is to do, its ground truth, and its edition."""

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Form, Path
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.challenges import ground_truth as versions
from vocboard.app.challenges import queries, samples
from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.ground_truth import current_versions, needs_confirmation
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, GroundTruthVersion, TruthState, Visibility
from vocboard.app.challenges.phases import current_phase, phase_named, phases_of
from vocboard.app.challenges.rules import rules_of
from vocboard.app.database import now
from vocboard.app.errors import BusyError, ConflictError, ForbiddenError, InvalidInputError, NotFoundError, ServiceError
from vocboard.app.intake.organisers import take_ground_truth
from vocboard.app.leaderboards.models import OPEN
from vocboard.app.organising import challenge_changes, phase_changes
from vocboard.app.organising import submissions as overview
from vocboard.app.organising.waiting import waiting
from vocboard.app.pages import formats, wording
from vocboard.app.pages.challenges import timeline
from vocboard.app.pages.filters import chosen
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, UploadedEdition, go_to, token_verifier
from vocboard.app.pages.organise.ground_truth import (
    changes_by_itself,
    failed_import,
    state_of,
    truth_tables,
    versions_scored_with,
    what_is_missing,
)
from vocboard.app.pages.organise.rules import VISIBILITIES
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import stored
from vocboard.app.rescores import queries as rescores
from vocboard.app.rescores import service as rescoring
from vocboard.app.rescores.queries import attention
from vocboard.app.rescores.rounds import awaits_confirmation
from vocboard.app.submissions import queries as submissions
from vocboard.app.submissions.models import State
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import IntakeDep
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes
from vocboard.evaluator.tasks.definitions import TASKS

router = Routes("/organise/{slug}")

VersionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.get("")
def organised_challenge(organised: Organised, truth: str = MAIN_PHASE) -> Response:
    """One challenge: its set-up and its ground truth."""
    return challenge_page(organised, truth=truth)


@router.post("/open", dependencies=[Depends(protect_form)])
def open_challenge(organised: Organised, visibility: Annotated[str, Form()] = "") -> Response:
    """Let everybody see a draft."""
    try:
        with organised.writing() as (session, challenge):
            wanted = chosen(Visibility, visibility)
            if wanted in {None, Visibility.DRAFT}:
                raise InvalidInputError({"visibility": "Choose who can see it."})
            rules = rules_of(challenge).model_copy(update={"visibility": wanted})
            challenge_changes.update(session, challenge=challenge, user=organised.user, rules=rules)
    except (ConflictError, InvalidInputError) as error:
        return challenge_page(organised, refusal=error)
    return go_to(f"/organise/{organised.slug}", done="opened")


@router.post("/ground-truth")
async def upload_ground_truth(organised: Organised, intake: IntakeDep, phase: str = MAIN_PHASE) -> Response:
    """Receive a development kit tree, which is encrypted while it arrives."""
    request, slug = organised.request, organised.slug
    try:
        taken = await take_ground_truth(
            intake, request, slug=slug, user=organised.user, phase_key=phase, before_file=token_verifier(request)
        )
    except (ForbiddenError, NotFoundError):
        raise
    except ServiceError as error:
        page = partial(challenge_page, organised, truth=phase, truth_errors=FormErrors.of(error))
        return await to_thread.run_sync(page)
    if taken.rescore_id is not None:
        return go_to(f"/organise/{slug}/rescores/{taken.rescore_id}")
    return go_to(f"/organise/{slug}", done="truth")


@router.post("/ground-truth/{number}/confirm", dependencies=[Depends(protect_form)])
def confirm_ground_truth(organised: Organised, number: VersionNumber) -> Response:
    """Confirm the warnings of the import."""
    return _change_version(organised, number, versions.confirm, done="truth-confirmed")


@router.post("/ground-truth/{number}/remove", dependencies=[Depends(protect_form)])
def remove_ground_truth(organised: Organised, number: VersionNumber) -> Response:
    """Remove a version that could not be imported."""
    return _change_version(organised, number, versions.remove_failed, done="truth-removed")


@router.post("/ground-truth/{number}/remove-competitions", dependencies=[Depends(protect_form)])
def remove_unscorable(organised: Organised, number: VersionNumber) -> Response:
    """Remove the competitions that a version cannot score from the challenge."""
    return _change_version(organised, number, phase_changes.remove_unscorable, done="competitions-removed")


def _change_version(
    organised: OrganisedChallenge, number: int, change: Callable[..., object], *, done: str
) -> Response:
    """Change a version; workers then look for versions that can become current."""
    try:
        organised.change(change, number=number)
    except ConflictError as error:
        return challenge_page(organised, refusal=error)
    return go_to(f"/organise/{organised.slug}", done=done)


@router.post("/edition", dependencies=[Depends(protect_form)])
def change_edition(
    organised: Organised, edition_file: UploadedEdition, reason: Annotated[str, Form()] = ""
) -> Response:
    """Replace the edition file; once there is ground truth, start a re-score by the changed one."""
    user, slug, rescore = organised.user, organised.slug, None
    try:
        with organised.writing() as (session, challenge):
            if queries.has_read_truth(session, challenge.id):
                rescore = rescoring.start(
                    session, challenge=challenge, user=user, reason=reason, edition_file=edition_file
                )
            else:
                challenge_changes.replace_edition_file(
                    session, challenge=challenge, user=user, edition_file=edition_file
                )
    except ConflictError as error:
        return challenge_page(organised, refusal=error)
    except InvalidInputError as error:
        return challenge_page(organised, errors=FormErrors.of(error), reason=reason)
    if rescore is None:
        return go_to(f"/organise/{slug}", done="edition")
    return go_to(f"/organise/{slug}/rescores/{rescore.id}")


@router.get("/samples")
def download_samples(organised: Organised) -> Response:
    """A sample tree and sample results for the challenge's edition, for organisers who want to rehearse."""
    try:
        content = samples.samples_of(organised.load())
    except (BusyError, ConflictError) as error:
        return challenge_page(organised, refusal=error)
    headers = {"Content-Disposition": f'attachment; filename="{organised.slug}-samples.zip"'}
    return Response(content, media_type="application/zip", headers=headers)


def challenge_page(
    organised: OrganisedChallenge,
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
    with organised.reading() as (session, challenge):
        listed_versions = queries.truth_versions(session, challenge.id)
        current = current_versions(session, challenge)
        has_read_truth = queries.has_read_truth(session, challenge.id)
        submitted_to = {each.id for each in phases_of(challenge) if submissions.is_submitted_to(session, each.id)}
        to_do = _steps(session, challenge, listed_versions, submitted_to)
        numbers = overview.counts(session, challenge)
        waits = waiting(session, [challenge.id])[challenge.id]
        all_rescores = rescores.of_challenge(session, challenge)
        need_attention = {one.id for one in all_rescores if attention(one)}
    at = now()
    phase = current_phase(challenge, at)
    with_truth = [each for each in phases_of(challenge) if each.has_own_truth]
    changing = {
        item.id
        for item in listed_versions
        if changes_by_itself(item, challenge, current.get(item.phase_id), item.phase_id in submitted_to)
    }
    return render(
        organised.request,
        "organise/challenge.html",
        status=max(errors.status, truth_errors.status) if refusal is None else refusal.status,
        refusal=wording.in_words(refusal) if refusal else None,
        challenge=challenge,
        phase=phase,
        state=phase.state(at),
        timeline=timeline(challenge, at),
        steps=to_do,
        steps_left=_progress(to_do),
        openings=[each for each in reversed(VISIBILITIES) if each[0] != Visibility.DRAFT],
        at=at,
        versions=listed_versions,
        warnings={item.id: stored(item.warnings) for item in listed_versions if item.warnings},
        unscorable={
            item.id: versions.unscorable(challenge, item) for item in listed_versions if item.state is TruthState.READY
        },
        tables={item.id: truth_tables(item.summary) for item in listed_versions},
        needs_confirmation=needs_confirmation,
        submitted_to=submitted_to,
        main_phase=phase_named(challenge, MAIN_PHASE),
        has_read_truth=has_read_truth,
        current=current,
        current_ids={version.id for version in current.values()},
        truth_phases=with_truth,
        truth_phase=next((each for each in with_truth if each.key == truth), with_truth[0]),
        phase_titles={each.id: each.title for each in phases_of(challenge)},
        rescores=all_rescores,
        to_confirm={one.id for one in all_rescores if awaits_confirmation(one, challenge)},
        need_attention=need_attention,
        open_rescore=next((one for one in all_rescores if one.submission_id is None and one.state in OPEN), None),
        failures={item.id: failed_import(item.problems or ()) for item in listed_versions},
        changing=changing,
        scored_with=list(versions_scored_with(challenge, current, submitted_to)),
        state_of=partial(state_of, challenge=challenge),
        numbers=numbers,
        waiting=waits,
        tree_folders=_tree_folders(challenge),
        upload_limit=organised.settings.ground_truth_limit_bytes,
        truth_errors=truth_errors,
        wrong=errors.wrong,
        reason=reason,
    )


def _tree_folders(challenge: Challenge) -> list[str]:
    """Return the folders that a tree needs for the challenge's tasks, in addition to `ImageSets`."""
    known = edition_of(challenge).competitions
    tasks = dict.fromkeys(known[key].task for key in challenge.main_phase.competition_keys)
    return list(dict.fromkeys(folder for task in tasks for folder in TASKS[task].tree_folders))


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do.

    Attributes:
        text: what is there, or missing.
        action: what the link says; None if it cannot be done yet.
        is_optional: whether the challenge can open without it.
    """

    title: str
    text: str
    is_done: bool
    action: str | None
    address: str
    is_optional: bool = False


def _steps(
    session: Session, challenge: Challenge, versions: Sequence[GroundTruthVersion], submitted_to: Collection[uuid.UUID]
) -> list[Step]:
    """Return the steps, in the order in which they make sense; none once everybody can submit, or nobody any more.

    Args:
        versions: of the ground truth, newest first.
        submitted_to: ids of the phases that somebody has submitted to.
    """
    if challenge.archived_at is not None:
        return []
    phases = phases_of(challenge)
    with_truth = [phase for phase in phases if phase.has_own_truth]
    is_hidden = challenge.visibility is Visibility.DRAFT
    if not is_hidden and all(phase.scoring_id is not None for phase in with_truth):
        return []
    base = f"/organise/{challenge.slug}"
    keys = challenge.main_phase.competition_keys
    offered = len(edition_of(challenge).competitions)
    main = challenge.main_phase
    found = [
        Step("Describe it", "What the challenge is about.", bool(challenge.description), "Edit", f"{base}/edit", True),
        Step(
            "Choose the competitions",
            f"{len(keys)} of {offered}: {', '.join(keys)}.",
            True,
            "Edit",
            f"{base}/edit#competitions",
        ),
        Step(
            "Set the dates and rules",
            "It has a deadline." if main.closes_at else "It has no deadline.",
            main.closes_at is not None,
            "Edit",
            f"{base}/edit#opens_at",
            True,
        ),
    ]
    for phase in with_truth:
        of_phase = f" of {phase.title}" if len(with_truth) > 1 else ""
        found.append(
            Step(
                f"Upload the ground truth{of_phase}",
                "Submissions can be scored."
                if phase.scoring_id
                else what_is_missing(
                    [each for each in versions if each.phase_id == phase.id], challenge, phase.id in submitted_to
                ),
                phase.scoring_id is not None,
                "Ground truth",
                f"{base}?truth={phase.key}#truth",
            )
        )
    rehearsal = submissions.last_rehearsal(session, challenge)
    said = "Submit sample results. No leaderboard shows them, and they use no quota."
    if rehearsal is not None:
        said = f"The last one is {rehearsal.state}."
    found.append(
        Step(
            "Rehearse",
            said,
            rehearsal is not None and rehearsal.state is State.SCORED,
            "Rehearse" if any(phase.scoring_id for phase in phases) else None,
            f"/challenges/{challenge.slug}/submit?rehearsal=true",
            True,
        )
    )
    text = "Only you can see it: it is a draft." if is_hidden else f"It is {challenge.visibility.value}."
    found.append(Step("Open it", text, not is_hidden, None, ""))
    return found


def _progress(found: list[Step]) -> str:
    """Say how many required steps are left."""
    left = sum(not step.is_done and not step.is_optional for step in found)
    return "Everything required is done." if not left else f"{formats.plural(left, 'required step')} left."
