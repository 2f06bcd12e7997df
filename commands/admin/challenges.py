"""Actions on challenges and their ground truth."""

import argparse
import sys
import tarfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast
from uuid import UUID

from vocboard.app.accounts import administration
from vocboard.app.challenges import ground_truth_versions, queries, service
from vocboard.app.challenges.ground_truth import needs_confirmation
from vocboard.app.challenges.models import MAIN_PHASE, Detail, GroundTruthVersion, TruthState, Visibility
from vocboard.app.database import Database
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.organising import challenge_changes
from vocboard.app.organising.phase_changes import note_on_change
from vocboard.app.rescores.service import start_with_upload
from vocboard.app.settings import Environment, Settings
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox, IncomingTruth
from vocboard.app.submissions import queries as submission_queries
from vocboard.commands.admin.actions import WHERE_TO_RUN, Actions
from vocboard.commands.admin.rescores import report_when_ready
from vocboard.evaluator.problems import Severity

CHUNK_BYTES = 1024 * 1024
POLL_SECONDS = 0.5
RULES = service.ChallengeRules.model_fields.keys()
SECONDS_TO_BECOME_CURRENT = 5.0


def configure(actions: Actions) -> None:
    """Add the actions."""
    action = actions.add_parser("create-challenge", help="create a challenge")
    action.add_argument("slug", help="short name of the challenge, used in its URL")
    action.add_argument("--organiser", required=True, metavar="EMAIL")
    edition = action.add_mutually_exclusive_group(required=True)
    edition.add_argument("--edition", default="", help="for example VOC2012")
    edition.add_argument(
        "--edition-file", type=Path, metavar="FILE", help="custom edition file; check it with check-edition"
    )
    add_rules(action)
    action.set_defaults(do=create_challenge)

    action = actions.add_parser("set-detail", help="change the detail level of a challenge's results")
    action.add_argument("slug")
    action.add_argument("detail", choices=list(map(str, Detail)))
    action.add_argument(
        "--organiser", required=True, metavar="EMAIL", help="organiser of the challenge, named in the audit log"
    )
    action.set_defaults(do=set_detail)

    action = actions.add_parser("import-truth", help="upload a development kit tree as a challenge's ground truth")
    action.add_argument("slug")
    action.add_argument("tree", type=Path, help="archive or directory")
    action.add_argument(
        "--organiser", required=True, metavar="EMAIL", help="organiser of the challenge, named in the audit log"
    )
    action.add_argument("--wait", action="store_true", help="wait until a worker has imported it")
    unless_correct = action.add_mutually_exclusive_group()
    unless_correct.add_argument(
        "--confirm", action="store_true", help="wait, print the warnings of the import, and confirm them"
    )
    unless_correct.add_argument(
        "--reason",
        default="",
        help="evaluate all submissions again if there are no warnings; shown on the leaderboards once that is applied",
    )
    action.set_defaults(do=import_truth)

    action = actions.add_parser("confirm-truth", help="confirm the warnings of a version of the ground truth")
    action.add_argument("slug")
    action.add_argument("number", type=int, help="number of the version")
    action.add_argument(
        "--organiser", required=True, metavar="EMAIL", help="organiser of the challenge, named in the audit log"
    )
    action.set_defaults(do=confirm_truth)


def add_rules(action: argparse.ArgumentParser) -> None:
    """Add the rules of a challenge, each under its name in `ChallengeRules`; those not given have its defaults."""
    add = partial(action.add_argument, default=argparse.SUPPRESS)
    add("--title", required=True)
    add("--description")
    add(
        "--competition",
        dest="competitions",
        action="append",
        metavar="KEY",
        help="for example comp3; can be repeated (default: all)",
    )
    add("--opens-at", type=instant, metavar="TIME", help="ISO 8601; UTC unless it has an offset")
    add("--closes-at", type=instant, metavar="TIME")
    add(
        "--quota",
        dest="quota_count",
        type=int,
        metavar="N",
        help="submissions per user and competition in each period (default: 2)",
    )
    add(
        "--quota-days",
        dest="quota_period_seconds",
        type=seconds_of_days,
        metavar="DAYS",
        help="length of the period in days (default: 7)",
    )
    add("--min-account-days", type=int, metavar="DAYS", help="minimum age of accounts that submit (default: 0)")
    add(
        "--shared-quota",
        action=argparse.BooleanOptionalAction,
        help="whether competitions with the same ground truth share one quota (default: they do)",
    )
    add("--visibility", choices=list(map(str, Visibility)), help="who can find it (default: draft)")
    add("--decimals", type=int, metavar="N", help="decimal places of displayed scores (default: 2)")
    add(
        "--no-statistics",
        dest="statistics",
        action="store_false",
        help="leave intervals and rank ranges out of the leaderboards",
    )
    add("--detail", choices=list(map(str, Detail)), help="detail level of results for participants (default: curves)")


def seconds_of_days(text: str) -> int:
    """Parse a number of days.

    >>> seconds_of_days("0.5")
    43200
    """
    try:
        return int(timedelta(days=float(text)).total_seconds())
    except OverflowError:
        raise ValueError(text) from None


def instant(text: str) -> datetime:
    """Parse a time.

    >>> instant("2026-05-01T12:00").isoformat()
    '2026-05-01T12:00:00+00:00'
    """
    parsed = datetime.fromisoformat(text)
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed


def create_challenge(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Create a challenge."""
    try:
        file = arguments.edition_file.read_text(encoding="utf-8-sig") if arguments.edition_file else None
    except (OSError, UnicodeDecodeError) as error:
        print(f"vocboard admin: {arguments.edition_file}: {error}", file=sys.stderr)
        return 1
    given = vars(arguments)
    with database.writing() as session:
        challenge_changes.create(
            session,
            organiser=administration.get_user(session, arguments.organiser),
            slug=arguments.slug,
            edition=arguments.edition,
            edition_file=file,
            rules=service.ChallengeRules(**{name: value for name, value in given.items() if name in RULES}),
        )
    return 0


def set_detail(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Change the detail level."""
    with database.writing() as session:
        user = administration.get_user(session, arguments.organiser)
        challenge = service.get_organised(session, arguments.slug, user)
        before = service.phase_named(challenge, MAIN_PHASE)
        note = note_on_change(challenge, before, before.rules.model_copy(update={"detail": Detail(arguments.detail)}))
        challenge_changes.set_detail(session, challenge=challenge, user=user, detail=Detail(arguments.detail))
    if note is not None:
        print(note)
    return 0


def import_truth(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Encrypt a tree into the inbox, notify the workers, and wait for the import if requested."""
    if not arguments.tree.exists():
        print(f"vocboard admin: {arguments.tree} does not exist", file=sys.stderr)
        return 1
    if settings.environment is Environment.PRODUCTION and not settings.ground_truth_inbox.is_dir():
        print(f"vocboard admin: {settings.ground_truth_inbox} does not exist here. {WHERE_TO_RUN}", file=sys.stderr)
        return 1
    with database.reading() as session:
        user = administration.get_user(session, arguments.organiser)
        challenge = service.get_organised(session, arguments.slug, user)
    inbox = GroundTruthInbox(settings.ground_truth_inbox)
    with inbox.receive(challenge_id=challenge.id, limit=settings.ground_truth_limit_bytes) as incoming:
        _write(arguments.tree, incoming)
        with incoming.kept() as version_id, database.writing() as session:
            challenge = service.get_organised(session, arguments.slug, user)
            version = service.add_ground_truth_version(
                session, challenge=challenge, user=user, file_name=arguments.tree.name, version_id=version_id
            )
            rescore = start_with_upload(
                session, challenge=challenge, user=user, version=version, reason=arguments.reason
            )
    WorkerNotifier(settings).jobs_added()
    if rescore is not None:
        print(f"re-score {rescore.id}")
    if not (arguments.wait or arguments.confirm):
        return 0
    status = _wait(database, version_id, confirming=arguments.confirm)
    if status == 0 and arguments.confirm:
        _confirm(database, settings, arguments.slug, _version(database, version_id).number, arguments.organiser)
    if status == 0 and rescore is not None:
        return report_when_ready(database, rescore.id, arguments.organiser)
    if status == 0:
        print(_what_is_current(database, version_id))
    return status


def confirm_truth(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Confirm the warnings of a version."""
    _confirm(database, settings, arguments.slug, arguments.number, arguments.organiser)
    return 0


def _confirm(database: Database, settings: Settings, slug: str, number: int, email: str) -> None:
    with database.writing() as session:
        user = administration.get_user(session, email)
        challenge = service.get_organised(session, slug, user)
        ground_truth_versions.confirm(session, challenge=challenge, user=user, number=number)
    WorkerNotifier(settings).jobs_added()


def _write(tree: Path, incoming: IncomingTruth) -> None:
    """Write an archive, or what is in a directory: so the tree may be in it or below it, as for `vocboard evaluate`."""
    if tree.is_dir():
        # In stream mode, tarfile only calls `write`.
        with tarfile.open(fileobj=cast(BinaryIO, incoming), mode="w|") as archive:
            for path in sorted(tree.iterdir()):
                archive.add(path, path.name)
        return
    with tree.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            incoming.write(chunk)


def _version(database: Database, version_id: UUID) -> GroundTruthVersion:
    with database.reading() as session:
        return session.get_one(GroundTruthVersion, version_id)


def _wait(database: Database, version_id: UUID, *, confirming: bool) -> int:
    """Wait for the import; 1 if it failed, or has to be confirmed, with everything that is wrong on standard error."""
    while (version := _version(database, version_id)).state not in {TruthState.READY, TruthState.FAILED}:
        time.sleep(POLL_SECONDS)
    if version.state is TruthState.FAILED:
        _print_problems(version.problems)
        return 1
    _print_problems(version.warnings)
    print(f"version {version.number} is ready and can score {', '.join(version.competitions or ())}")
    if needs_confirmation(version) and not confirming:
        print(
            f"vocboard admin: version {version.number} cannot become current before its warnings are confirmed: "
            f"vocboard admin confirm-truth ... {version.number}",
            file=sys.stderr,
        )
        return 1
    return 0


def _print_problems(problems: Sequence[Mapping[str, Any]] | None) -> None:
    for problem in problems or ():
        place = ":".join(str(part) for part in (problem["file"], problem["line"]) if part is not None)
        kind = "warning: " if problem["severity"] == Severity.WARNING else ""
        print(f"{place + ': ' if place else ''}{kind}{problem['message']}", file=sys.stderr)


def _what_is_current(database: Database, version_id: UUID) -> str:
    """Say which version submissions are scored with, once a worker has had time to let this one become current."""
    deadline = time.monotonic() + SECONDS_TO_BECOME_CURRENT
    while True:
        with database.reading() as session:
            version = session.get_one(GroundTruthVersion, version_id)
            challenge = queries.challenge_with_phases(session, version.challenge_id)
            current = service.current_versions(session, challenge).get(version.phase_id)
            may_become = current is None or (
                current.id != version.id and not submission_queries.is_submitted_to(session, version.phase_id)
            )
        if not may_become or time.monotonic() > deadline:
            break
        time.sleep(POLL_SECONDS)
    if current is None:
        return "no version is current: this one cannot score all competitions of the challenge"
    if current.id == version_id:
        return f"version {current.number} is current"
    return f"version {current.number} is current; score with the new one: vocboard admin rescore {challenge.slug}"
