"""Actions on re-scores."""

import argparse
import sys
import time
from pathlib import Path
from uuid import UUID

from vocboard.app.accounts import administration
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.rescores import queries, service
from vocboard.app.rescores.queries import attention
from vocboard.app.settings import Settings
from vocboard.commands.admin.actions import Actions
from vocboard.commands.progress import Progress

POLL_SECONDS = 0.5


def configure(actions: Actions) -> None:
    """Add the actions."""
    action = actions.add_parser("rescore", help="evaluate all submissions again, and report what would change")
    action.add_argument("slug")
    what = action.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--ground-truth-version", type=int, metavar="NUMBER", help="the current one for a new version of vocboard"
    )
    what.add_argument("--edition-file", type=Path, metavar="FILE", help="score by changed rules")
    action.add_argument("--confirm", action="store_true", help="confirm the warnings of the import; read them first")
    action.add_argument("--reason", required=True, help="shown on the leaderboards once it is applied")
    action.add_argument(
        "--organiser", required=True, metavar="EMAIL", help="organiser of the challenge, named in the audit log"
    )
    action.add_argument("--wait", action="store_true", help="until it is ready, and print its report")
    action.add_argument("--apply", action="store_true", help="wait, and then apply it at once")
    action.set_defaults(do=rescore)
    action = actions.add_parser("evaluate-again", help="evaluate one submission again: a failed one at once")
    action.add_argument("submission", type=UUID, metavar="ID")
    action.add_argument("--reason", default="", help="shown on the leaderboards if a published result changes")
    action.add_argument(
        "--organiser", required=True, metavar="EMAIL", help="organiser of the challenge, named in the audit log"
    )
    action.add_argument("--wait", action="store_true", help="until it is ready, and print its report")
    action.add_argument("--apply", action="store_true", help="wait, and then apply it at once")
    action.set_defaults(do=evaluate_again)
    for name, about in (("apply", "switch to the results of a re-score"), ("discard", "end a re-score, or cancel it")):
        action = actions.add_parser(f"{name}-rescore", help=about)
        action.add_argument("id", type=UUID)
        action.add_argument(
            "--organiser", required=True, metavar="EMAIL", help="organiser of the challenge, named in the audit log"
        )
        if name == "apply":
            action.add_argument("--reason", help="in place of the one that it was started with")
            action.add_argument(
                "--confirm", metavar="SLUG", help="the challenge's short name, where the report needs attention"
            )
        action.set_defaults(do=apply_rescore if name == "apply" else discard_rescore)
    action = actions.add_parser("rescores", help="list a challenge's re-scores")
    action.add_argument("slug")
    action.add_argument("--organiser", required=True, metavar="EMAIL")
    action.set_defaults(do=list_rescores)


def rescore(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Start one, follow it, and print its report."""
    try:
        file = arguments.edition_file.read_text(encoding="utf-8-sig") if arguments.edition_file else None
    except (OSError, UnicodeDecodeError) as error:
        print(f"vocboard admin: {arguments.edition_file}: {error}", file=sys.stderr)
        return 1
    with database.writing() as session:
        user = administration.get_user(session, arguments.organiser)
        started = service.start(
            session,
            challenge=challenges.get_organised(session, arguments.slug, user),
            user=user,
            ground_truth_version=arguments.ground_truth_version,
            edition_file=file,
            confirm_warnings=arguments.confirm,
            reason=arguments.reason,
        )
    WorkerNotifier(settings).jobs_added()
    print(f"re-score {started.id}")
    for change in started.edition_changes or ():
        print(f"  {change['what']}: {change['before']} -> {change['after']}")
    return _finish(arguments, database, settings, started.id)


def evaluate_again(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Queue a failed submission, or start a re-score of a scored one."""
    with database.writing() as session:
        user = administration.get_user(session, arguments.organiser)
        _, started = service.evaluate_again(
            session, submission_id=arguments.submission, user=user, reason=arguments.reason
        )
    if started is None:
        WorkerNotifier(settings).jobs_added()
        print("queued")
        return 0
    WorkerNotifier(settings).jobs_added()
    print(f"re-score {started.id}")
    return _finish(arguments, database, settings, started.id)


def _finish(arguments: argparse.Namespace, database: Database, settings: Settings, rescore_id: UUID) -> int:
    """Follow a re-score, print its report and apply it, as far as the arguments ask for that."""
    if not (arguments.wait or arguments.apply):
        return 0
    status = report_when_ready(database, rescore_id, arguments.organiser, is_applied_next=arguments.apply)
    if status != 0 or _read(database, rescore_id).state is not RescoreState.READY or not arguments.apply:
        return status
    return _apply(database, settings, rescore_id, arguments.organiser)


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
    if not is_applied_next:
        needed = f" --confirm {_slug(database, found)}" if attention(found) else ""
        print(f"apply it: vocboard admin apply-rescore {rescore_id} --organiser {organiser}{needed}")
    return 0


def _slug(database: Database, rescore: Rescore) -> str:
    with database.reading() as session:
        return challenge_queries.challenge_with_phases(session, rescore.challenge_id).slug


def apply_rescore(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Switch to its results."""
    return _apply(database, settings, arguments.id, arguments.organiser, arguments.reason, arguments.confirm)


def discard_rescore(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """End it without any change."""
    with database.writing() as session:
        user = administration.get_user(session, arguments.organiser)
        service.discard(session, rescore_id=arguments.id, user=user)
    print(f"discarded; {_what_is_current(database, _read(database, arguments.id))}")
    return 0


def list_rescores(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Print them, the latest first."""
    with database.reading() as session:
        user = administration.get_user(session, arguments.organiser)
        challenge = challenges.get_organised(session, arguments.slug, user)
        for one in queries.of_challenge(session, challenge):
            print(f"{one.id}  {one.created_at:%Y-%m-%d %H:%M} UTC  {one.state:9}  {_what(one)}: {one.reason}")
    return 0


def _what(rescore: Rescore) -> str:
    if rescore.submission is not None:
        return rescore.submission.method.name
    if rescore.changes_edition:
        return f"rules, version {rescore.edition_version}"
    return f"version {rescore.ground_truth_version.number}"


def _apply(  # noqa: PLR0917  # as the command has them
    database: Database,
    settings: Settings,
    rescore_id: UUID,
    email: str,
    reason: str | None = None,
    confirm: str | None = None,
) -> int:
    with database.writing() as session:
        user = administration.get_user(session, email)
        service.request_apply(session, rescore_id=rescore_id, user=user, reason=reason, confirm=confirm)
    WorkerNotifier(settings).jobs_added()
    service.wait_until_applied(database, rescore_id)
    found = _read(database, rescore_id)
    if found.state is RescoreState.FAILED:
        print(f"vocboard admin: {found.failure}", file=sys.stderr)
        return 1
    outcome = "applied" if found.state is RescoreState.APPLIED else "a worker will apply it"
    print(f"{outcome}; {_what_is_current(database, found)}")
    return 0


def _what_is_current(database: Database, rescore: Rescore) -> str:
    """Say which version of the ground truth, or of the rules, submissions are scored by."""
    with database.reading() as session:
        challenge = challenge_queries.challenge_with_phases(session, rescore.challenge_id)
        if rescore.changes_edition:
            return f"version {challenge.edition_version} of the rules is current"
        concerned = challenge_queries.truth_version_by_id(session, rescore.ground_truth_version_id)
        current = challenges.current_versions(session, challenge).get(concerned.phase_id)
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
        session.refresh(found, ["report"])
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
            f"{one['scores_changed']} scores and {one['ranks_changed']} ranks change"
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
