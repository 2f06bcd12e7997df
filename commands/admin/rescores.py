"""Actions on re-scores."""

import sys
import time
from pathlib import Path
from uuid import UUID

from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.ground_truth import current_versions
from vocboard.app.challenges.models import GroundTruthVersion
from vocboard.app.database import Database
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.rescores import queries, service
from vocboard.app.rescores.queries import attention
from vocboard.app.submissions.models import State, Submission
from vocboard.commands.admin.actions import (
    ORGANISER,
    SUBMISSION,
    ActionError,
    Actions,
    Call,
    Outcome,
    Transaction,
    argument,
    one_of,
    read_text,
)
from vocboard.commands.progress import Progress
from vocboard.evaluator.problems import counted

POLL_SECONDS = 0.5

ACTIONS = Actions()
WAIT = argument("--wait", action="store_true", help="until it is ready, and print its report")
APPLY = argument("--apply", action="store_true", help="wait, and then apply it at once")
ID = argument("id", type=UUID)


@ACTIONS.runs(
    "slug",
    one_of(
        argument(
            "--ground-truth-version", type=int, metavar="NUMBER", help="the current one for a new version of vocboard"
        ),
        argument("--edition-file", type=Path, metavar="FILE", help="score by changed rules"),
        required=True,
    ),
    argument("--confirm", action="store_true", help="confirm the warnings of the import; read them first"),
    argument("--reason", required=True, help="shown on the leaderboards once it is applied"),
    ORGANISER,
    WAIT,
    APPLY,
)
def rescore(call: Call) -> Outcome:
    """Evaluate all submissions again, and report what would change."""
    arguments = call.arguments
    with call.writing() as at:
        started = service.start(
            at.session,
            **at.organised,
            ground_truth_version=arguments.ground_truth_version,
            edition_file=read_text(arguments.edition_file),
            confirm_warnings=arguments.confirm,
            reason=arguments.reason,
        )
    print(f"re-score {started.id}")
    for change in started.edition_changes or ():
        print(f"  {change['what']}: {change['before']} -> {change['after']}")
    return _finish(call, started.id)


@ACTIONS.runs(
    SUBMISSION,
    argument("--reason", default="", help="shown on the leaderboards if a published result changes"),
    ORGANISER,
    WAIT,
    APPLY,
)
def evaluate_again(call: Call) -> Outcome:
    """Evaluate one submission again: a failed one at once."""
    with call.writing() as at:
        submission, started = service.evaluate_again(
            at.session, submission_id=call.arguments.submission, user=at.user, reason=call.arguments.reason
        )
    if started is None:
        waits = call.arguments.wait or call.arguments.apply
        return _evaluated(call.database, submission.id) if waits else "queued"
    print(f"re-score {started.id}")
    return _finish(call, started.id)


def _evaluated(database: Database, submission_id: UUID) -> str:
    """Wait until a failed submission has been evaluated again, and return its state."""
    while True:
        with database.reading() as session:
            found = session.get_one(Submission, submission_id)
        if found.state is State.FAILED:
            raise ActionError(found.failure_detail or found.failure or "it failed again")
        if found.state not in (State.QUEUED, State.EVALUATING):
            return found.state
        time.sleep(POLL_SECONDS)


def _finish(call: Call, rescore_id: UUID) -> Outcome:
    """Follow a re-score, print its report and apply it, as far as the arguments ask for that."""
    arguments, database = call.arguments, call.database
    if not (arguments.wait or arguments.apply):
        return 0
    status = report_when_ready(database, rescore_id, arguments.organiser, is_applied_next=arguments.apply)
    if status != 0 or _read(database, rescore_id).state is not RescoreState.READY or not arguments.apply:
        return status
    return _apply(call, rescore_id)


def report_when_ready(database: Database, rescore_id: UUID, organiser: str, *, is_applied_next: bool = False) -> int:
    """Follow a re-score, print its report and how to apply it; return the exit status."""
    found = _follow(database, rescore_id)
    if found.state is RescoreState.APPLIED:  # nobody has submitted
        print(f"applied; {_what_is_current(database, found)}")
        return 0
    if found.state is not RescoreState.READY:
        print(f"vocboard admin: {found.failure or f'the re-score is {found.state}'}", file=sys.stderr)
        return 1
    _print_report(found)
    print(_what_is_current(database, found))
    if not is_applied_next or attention(found):
        needed = f" --confirm {_slug(database, found)}" if attention(found) else ""
        print(f"apply it: vocboard admin apply-rescore {rescore_id} --organiser {organiser}{needed}")
    return 0


def _slug(database: Database, rescore: Rescore) -> str:
    with database.reading() as session:
        return challenge_queries.challenge_with_phases(session, rescore.challenge_id).slug


@ACTIONS.runs(
    ID,
    ORGANISER,
    argument("--reason", help="in place of the one that it was started with"),
    argument("--confirm", metavar="SLUG", help="the challenge's short name, where the report needs attention"),
)
def apply_rescore(call: Call) -> Outcome:
    """Switch to the results of a re-score."""
    return _apply(call, call.arguments.id, call.arguments.reason, call.arguments.confirm)


@ACTIONS.runs(ID, ORGANISER)
def discard_rescore(call: Call) -> Outcome:
    """End a re-score, or cancel it."""
    with call.writing() as at:
        service.discard(at.session, rescore_id=call.arguments.id, user=at.user)
    return f"discarded; {_what_is_current(call.database, _read(call.database, call.arguments.id))}"


@ACTIONS.reads("slug", argument("--organiser", required=True, metavar="EMAIL"))
def rescores(at: Transaction) -> str:
    """List a challenge's re-scores, with the state `attention` where applying must be confirmed."""
    return "\n".join(
        f"{one.id}  {one.created_at:%Y-%m-%d %H:%M} UTC  {'attention' if attention(one) else one.state:9}  "
        f"{_what(one)}: {one.reason}"
        for one in queries.of_challenge(at.session, at.challenge)
    )


def _what(rescore: Rescore) -> str:
    if rescore.submission is not None:
        return rescore.submission.method.name
    if rescore.changes_edition:
        return f"rules, version {rescore.edition_version}"
    return f"version {rescore.ground_truth_version.number}"


def _apply(call: Call, rescore_id: UUID, reason: str | None = None, confirm: str | None = None) -> Outcome:
    with call.writing() as at:
        service.request_apply(at.session, rescore_id=rescore_id, user=at.user, reason=reason, confirm=confirm)
    service.wait_until_applied(call.database, rescore_id)
    found = _read(call.database, rescore_id)
    if found.state is RescoreState.FAILED:
        raise ActionError(str(found.failure))
    outcome = "applied" if found.state is RescoreState.APPLIED else "a worker will apply it"
    return f"{outcome}; {_what_is_current(call.database, found)}"


def _what_is_current(database: Database, rescore: Rescore) -> str:
    """Say which version of the ground truth, or of the rules, submissions are scored by."""
    with database.reading() as session:
        challenge = challenge_queries.challenge_with_phases(session, rescore.challenge_id)
        if rescore.changes_edition:
            return f"version {challenge.edition_version} of the rules is current"
        concerned = session.get_one(GroundTruthVersion, rescore.ground_truth_version_id)
        current = current_versions(session, challenge).get(concerned.phase_id)
    return "no version is current" if current is None else f"version {current.number} is current"


def _follow(database: Database, rescore_id: UUID) -> Rescore:
    """Wait until it is not running any more, and show how far it is."""
    with database.reading() as session:
        total = queries.progress(session, session.get_one(Rescore, rescore_id)).total
    with Progress("submissions", total) as shown:
        before = 0
        while (found := _read(database, rescore_id)).state is RescoreState.RUNNING:
            with database.reading() as session:
                done = queries.progress(session, found).done
            shown.advance(done - before)
            before = done
            time.sleep(POLL_SECONDS)
    return found


def _read(database: Database, rescore_id: UUID) -> Rescore:
    with database.reading() as session:
        found = session.get_one(Rescore, rescore_id)
        session.refresh(found, ["report", "report_summary"])  # `attention` reads it, after the session
        return found


def _print_report(rescore: Rescore) -> None:
    report = rescore.report or {}
    images = report["images"]
    print(f"images: {images['before']} before, {images['after']} after")
    print(f"scored: {report['scored']}; lost results: {report['lost']} ({report['lost_published']} published)")
    for sentence in attention(rescore):
        print(f"NEEDS ATTENTION: {sentence}")
    for one in report["competitions"]:
        print(
            f"{one['competition']}: {one['evaluated']} evaluated, {one['published']} published; "
            f"{counted(one['scores_changed'], 'score')} and {counted(one['ranks_changed'], 'rank')} change"
        )
    for change in report["changes"]:
        rank, mean = change["rank"], change["mean"]
        place = f"rank {rank['before']} -> {rank['after']}" if change["published"] else "not published"
        classes = ", ".join(
            f"{name} {values['before']} -> {values['after']}" for name, values in change["classes"].items()
        )
        means = f"mean {mean['before']} -> {mean['after']}"
        print(f"  {change['competition']}  {change['method']}: {place}, {means} ({classes})")
    for failure in report["failures"]:
        print(f"  cannot be evaluated: {failure['method']}: {failure['reason']}")
