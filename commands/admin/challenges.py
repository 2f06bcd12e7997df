"""Actions on challenges and their ground truth."""

import argparse
import sys
import tarfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, cast
from uuid import UUID

from vocboard.app.challenges import ground_truth, queries
from vocboard.app.challenges.ground_truth import needs_confirmation
from vocboard.app.challenges.models import (
    MAIN_PHASE,
    Admission,
    Detail,
    Freeze,
    GroundTruthVersion,
    OverallRank,
    TruthState,
    Visibility,
)
from vocboard.app.challenges.phases import phase_named
from vocboard.app.challenges.rules import ChallengeRules, DataLink
from vocboard.app.database import Database
from vocboard.app.organising import challenge_changes
from vocboard.app.organising.phase_changes import note_on_change
from vocboard.app.rescores.service import start_with_upload
from vocboard.app.settings import Environment
from vocboard.app.storage.ground_truth_inbox import IncomingTruth
from vocboard.app.storage.stores import ground_truth_inbox
from vocboard.app.submissions import queries as submission_queries
from vocboard.commands.admin.actions import (
    ORGANISER,
    WHERE_TO_RUN,
    ActionError,
    Actions,
    Call,
    Outcome,
    Transaction,
    argument,
    one_of,
    read_text,
    rule,
)
from vocboard.commands.admin.rescores import report_when_ready
from vocboard.evaluator.problems import Severity

CHUNK_BYTES = 1024 * 1024
POLL_SECONDS = 0.5
SECONDS_TO_BECOME_CURRENT = 5.0

ACTIONS = Actions()
DETAIL_LEVELS = list(map(str, Detail))


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
    >>> instant("2026-02-31")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: not a time, such as 2027-01-31 or 2027-01-31T18:00: '2026-02-31'
    """
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not a time, such as 2027-01-31 or 2027-01-31T18:00: {text!r}") from error
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed


def instant_or_none(text: str) -> datetime | None:
    """Parse a time, or `none`.

    >>> instant_or_none("none") is None
    True
    """
    return None if text == "none" else instant(text)


def step_or_none(text: str) -> float | None:
    """Parse a number, or `none`.

    >>> step_or_none("none") is None, step_or_none("0.01")
    (True, 0.01)
    """
    try:
        return None if text == "none" else float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"neither a number nor none: {text!r}") from error


def data_link(text: str) -> DataLink:
    """Parse a link to data, in JSON.

    >>> data_link('{"title": "Images", "url": "https://lab.example/images.tar"}').title
    'Images'
    """
    return DataLink.model_validate_json(text)


PHASE_RULES = (  # each under its name in `PhaseRules`, which has the defaults
    rule(
        "--competition",
        dest="competitions",
        action="append",
        metavar="KEY",
        help="such as comp3; can be repeated (default: all)",
    ),
    rule("--opens-at", type=instant_or_none, metavar="TIME", help="ISO 8601; UTC unless it has an offset"),
    rule("--closes-at", type=instant_or_none, metavar="TIME"),
    rule(
        "--quota",
        dest="quota_count",
        type=int,
        metavar="N",
        help="submissions per user and competition in each period (default: 2)",
    ),
    rule(
        "--quota-days",
        dest="quota_period_seconds",
        type=seconds_of_days,
        metavar="DAYS",
        help="length of the period in days (default: 7)",
    ),
    rule(
        "--shared-quota",
        action=argparse.BooleanOptionalAction,
        help="one for competitions with the same ground truth (default: it is)",
    ),
    rule("--detail", choices=DETAIL_LEVELS, help="detail level of results for participants (default: curves)"),
    rule("--admission", choices=list(map(str, Admission)), help="who may submit (default: everyone)"),
    rule(
        "--admission-domain",
        dest="admission_domains",
        action="append",
        metavar="DOMAIN",
        help="with --admission domain, of email addresses; can be repeated",
    ),
    rule("--min-account-days", type=int, metavar="DAYS", help="minimum age of accounts that submit (default: 0)"),
    rule("--leaderboard-from", type=instant_or_none, metavar="TIME", help="when leaderboards become visible"),
    rule("--anonymous-until", type=instant_or_none, metavar="TIME", help="when leaderboards begin to show names"),
    rule("--freeze", choices=list(map(str, Freeze)), help="when leaderboards stop changing (default: closing)"),
    rule(
        "--ladder-step",
        type=step_or_none,
        metavar="FRACTION",
        help="hide scores until the phase closes, except new bests of each person, rounded to this step, such as 0.01",
    ),
    rule("--freezes-at", type=instant_or_none, metavar="TIME", help="with --freeze date"),
)


@ACTIONS.changes(
    argument("slug", help="short name of the challenge, used in its URL"),
    argument("--organiser", required=True, metavar="EMAIL"),
    one_of(
        argument("--edition", default="", help="for example VOC2012"),
        argument("--edition-file", type=Path, metavar="FILE", help="custom edition file; check it with check-edition"),
        required=True,
    ),
    # Likewise, in `ChallengeRules`.
    rule("--title", required=True),
    rule("--summary", help="what it is about, in one sentence"),
    rule("--description", metavar="MARKDOWN"),
    rule("--website", metavar="URL"),
    rule("--contact", metavar="EMAIL_OR_URL"),
    rule("--organised-by", metavar="NAMES", help="names that its page shows, one a line"),
    rule("--licence", metavar="NAME_OR_URL", help="of the data: an SPDX name such as CC-BY-4.0, or an address"),
    rule("--citation", metavar="TEXT", help="what to cite, in BibTeX or as text"),
    rule(
        "--data-link",
        dest="data_links",
        action="append",
        type=data_link,
        metavar="JSON",
        help='where data can be downloaded: {"title": ..., "url": ..., "bytes": ..., "sha256": ...}, the last two '
        "optional; can be repeated",
    ),
    rule("--visibility", choices=list(map(str, Visibility)), help="who can find it (default: draft)"),
    rule("--decimals", type=int, metavar="N", help="decimal places of displayed scores (default: 2)"),
    rule("--team-size", type=int, metavar="N", help="largest number of members of a team (default: 10; 1: no teams)"),
    rule(
        "--no-statistics",
        dest="statistics",
        action="store_false",
        help="leave intervals and rank ranges out of the leaderboards",
    ),
    rule(
        "--overall-rank",
        choices=list(map(str, OverallRank)),
        help="how methods are ranked over all leaderboards (default: none)",
    ),
    *PHASE_RULES,
)
def create_challenge(at: Transaction) -> None:
    """Create a challenge."""
    given = vars(at.arguments)
    challenge_changes.create(
        at.session,
        organiser=at.user,
        slug=at.arguments.slug,
        edition=at.arguments.edition,
        edition_file=read_text(at.arguments.edition_file),
        rules=ChallengeRules(**{name: value for name, value in given.items() if name in ChallengeRules.model_fields}),
    )


@ACTIONS.changes("slug", argument("detail", choices=DETAIL_LEVELS), ORGANISER)
def set_detail(at: Transaction) -> str | None:
    """Change the detail level of a challenge's results."""
    detail = Detail(at.arguments.detail)
    user, challenge = at.user, at.challenge
    before = phase_named(challenge, MAIN_PHASE)
    note = note_on_change(challenge, before, before.rules.model_copy(update={"detail": detail}))
    challenge_changes.set_detail(at.session, challenge=challenge, user=user, detail=detail)
    return note


@ACTIONS.runs(
    "slug",
    argument("tree", type=Path, help="archive or directory"),
    ORGANISER,
    argument("--wait", action="store_true", help="wait until a worker has imported it"),
    one_of(
        argument("--confirm", action="store_true", help="wait, print the warnings of the import, and confirm them"),
        argument(
            "--reason",
            default="",
            help="evaluate all submissions again if there are no warnings; shown on the leaderboards once that is "
            "applied",
        ),
    ),
)
def import_truth(call: Call) -> Outcome:
    """Upload a development kit tree as a challenge's ground truth."""
    arguments, settings, database = call.arguments, call.settings, call.database
    if not arguments.tree.exists():
        raise ActionError(f"{arguments.tree} does not exist")
    is_mounted = settings.store or settings.ground_truth_inbox.is_dir()
    if settings.environment is Environment.PRODUCTION and not is_mounted:
        raise ActionError(f"{settings.ground_truth_inbox} does not exist here. {WHERE_TO_RUN}")
    with call.reading() as at:
        challenge_id = at.challenge.id
    inbox = ground_truth_inbox(settings)
    with inbox.receive(challenge_id=challenge_id, limit=settings.ground_truth_limit_bytes) as incoming:
        _write(arguments.tree, incoming)
        with incoming.kept() as version_id, call.writing() as at:
            version = ground_truth.add_ground_truth_version(
                at.session, **at.organised, file_name=arguments.tree.name, version_id=version_id
            )
            rescore = start_with_upload(at.session, **at.organised, version=version, reason=arguments.reason)
    if rescore is not None:
        print(f"re-score {rescore.id}")
    if not (arguments.wait or arguments.confirm):
        return 0
    status = _wait(call, version_id)
    if status == 0 and arguments.confirm:
        with call.writing() as at:
            ground_truth.confirm(at.session, **at.organised, number=_version(database, version_id).number)
    if status == 0 and rescore is not None:
        return report_when_ready(database, rescore.id, arguments.organiser)
    return _what_is_current(database, version_id) if status == 0 else status


@ACTIONS.changes("slug", argument("number", type=int, help="number of the version"), ORGANISER)
def confirm_truth(at: Transaction) -> None:
    """Confirm the warnings of a version of the ground truth."""
    ground_truth.confirm(at.session, **at.organised, number=at.arguments.number)


def _write(tree: Path, incoming: IncomingTruth) -> None:
    """Write an archive, or what is in a directory: so the tree may be in it or below it, as for `vocboard evaluate`.

    Symbolic and hard links become the files that they lead to, since links in archives are refused.
    """
    if tree.is_dir():
        # In stream mode, tarfile only calls `write`.
        with tarfile.open(fileobj=cast(BinaryIO, incoming), mode="w|", dereference=True) as archive:
            for path in sorted(tree.iterdir()):
                archive.add(path, path.name)
        return
    with tree.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            incoming.write(chunk)


def _version(database: Database, version_id: UUID) -> GroundTruthVersion:
    with database.reading() as session:
        return session.get_one(GroundTruthVersion, version_id)


def _wait(call: Call, version_id: UUID) -> int:
    """Wait for the import; 1 if it failed, or has to be confirmed, with everything that is wrong on standard error."""
    while (version := _version(call.database, version_id)).state not in {TruthState.READY, TruthState.FAILED}:
        time.sleep(POLL_SECONDS)
    if version.state is TruthState.FAILED:
        _print_problems(version.problems)
        return 1
    _print_problems(version.warnings)
    print(f"version {version.number} is ready and can score {', '.join(version.competitions or ())}")
    if needs_confirmation(version) and not call.arguments.confirm:
        command = f"confirm-truth {call.arguments.slug} {version.number} --organiser {call.arguments.organiser}"
        print(
            f"vocboard admin: version {version.number} cannot become current before its warnings are confirmed: "
            f"vocboard admin {command}",
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
            current = ground_truth.current_versions(session, challenge).get(version.phase_id)
            has_results = current is not None or challenge.imported_at is not None
            must_score = has_results and submission_queries.is_submitted_to(session, version.phase_id)
            may_become = not must_score and (current is None or current.id != version.id)
        if not may_become or time.monotonic() > deadline:
            break
        time.sleep(POLL_SECONDS)
    if current is None and not must_score:
        return "no version is current: this one cannot score all competitions of the challenge"
    is_current = "no version is current" if current is None else f"version {current.number} is current"
    if current is not None and current.id == version_id:
        return is_current
    command = f"vocboard admin rescore {challenge.slug} --ground-truth-version {version.number}"
    return f"{is_current}; score with the new one: {command} --reason REASON --organiser EMAIL"
