"""Visibility and rules of challenges. For their ground truth, see `app.challenges.ground_truth`."""

from collections.abc import Callable, Sequence
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import Role, User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries
from vocboard.app.challenges.competition_rows import competition_rows, same_or_new
from vocboard.app.challenges.deadlines import move_next_phases, with_moved_dates
from vocboard.app.challenges.detail_level import set_detail
from vocboard.app.challenges.edition_versions import source_of_version
from vocboard.app.challenges.editions import chosen_edition, edition_of
from vocboard.app.challenges.ground_truth import (
    add_ground_truth_version,
    check_phase_of_truth,
    current_image_sets,
    current_truth,
    current_versions,
    ground_truth_versions,
    image_sets_json,
)
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, ChallengeOrganiser, Detail
from vocboard.app.challenges.phase_changes import add_phase, remove_phase, require_not_entered, update_phase
from vocboard.app.challenges.phases import (
    Phase,
    PhaseState,
    check_accepting,
    current_phase,
    edition_of_phase,
    leaderboard_phase,
    lock_to_change,
    phase_named,
    phase_state,
    phases_of,
    require_not_archived,
)
from vocboard.app.challenges.rules import ChallengeRules, PhaseRules, check_rules, rules_of
from vocboard.app.challenges.slugs import SLUG, check_slug
from vocboard.app.errors import ConflictError, ForbiddenError, NotFoundError
from vocboard.app.forms.fields import FieldChecks
from vocboard.app.leaderboards import freezing

__all__ = [
    "ChallengeRules",
    "Phase",
    "PhaseState",
    "add_ground_truth_version",
    "add_phase",
    "change_phase",
    "check_accepting",
    "check_phase_of_truth",
    "create",
    "current_image_sets",
    "current_phase",
    "current_truth",
    "current_versions",
    "edition_of",
    "edition_of_phase",
    "get_organised",
    "get_visible",
    "ground_truth_versions",
    "image_sets_json",
    "is_organiser",
    "leaderboard_phase",
    "organised_challenges",
    "phase_named",
    "phase_state",
    "phases_of",
    "remove_phase",
    "replace_edition_file",
    "rules_of",
    "set_detail",
    "source_of_version",
    "update",
    "update_phase",
    "visible_challenges",
]

CHANGEABLE_FOR_EVER = frozenset({"title", "description", "visibility"})  # also when it is archived
EVERYTHING_IS_THE_OPERATORS = (
    "The challenge has ground truth, and exact results would reveal it permanently. From "
    "now on, only the operator can choose this level: vocboard admin set-detail {slug} everything"
)


def visible_challenges(session: Session, viewer: User | None) -> Sequence[Challenge]:
    """Return the challenges to list for a user: public ones and those that the user organises, newest first."""
    return queries.listed_challenges(session, viewer)


def organised_challenges(session: Session, user: User) -> Sequence[Challenge]:
    """Return the challenges that a user organises (administrators: all), newest first."""
    return queries.organised_challenges(session, user)


def get_visible(session: Session, slug: str, viewer: User | None) -> Challenge:
    """Return a challenge, with its competitions.

    Raises:
        NotFoundError: there is none, or it is a draft and the user does not organise it.
    """
    return _find(session, slug, viewer)[0]


def get_organised(session: Session, slug: str, user: User) -> Challenge:
    """Return a challenge that the user organises (administrators: any), with its competitions.

    Raises:
        NotFoundError: the user may not see it.
        ForbiddenError: the user may see it, but does not organise it.
    """
    challenge, organises = _find(session, slug, user)
    if not organises:
        raise ForbiddenError("Only the organisers of this challenge can do this.")
    return challenge


def is_organiser(session: Session, challenge: Challenge, user: User | None) -> bool:
    """Whether a user organises a challenge; administrators organise all."""
    return queries.organises(session, user, challenge.id)


def create(
    session: Session,
    *,
    organiser: User,
    slug: str,
    edition: str,
    edition_file: str | None = None,
    rules: ChallengeRules,
    edition_version: int = 1,
    challenge_id: UUID | None = None,
    imported_at: datetime | None = None,
) -> Challenge:
    """Create a challenge with this user as its organiser.

    Args:
        slug: short name, used in URLs.
        edition: name of a built-in edition; empty if there is a file.
        edition_file: content of a custom edition file.
        edition_version: number of this version of the edition, for an imported challenge.
        challenge_id: its id, if other rows have it already.
        imported_at: when it was imported from another server; the caller archives it.

    Raises:
        ForbiddenError: the user is a participant or a co-organiser.
        InvalidInputError: with everything that is wrong, by the names above and those of the rules.
        ConflictError: the slug is taken.
    """
    if organiser.role not in {Role.ORGANISER, Role.ADMINISTRATOR}:
        raise ForbiddenError(
            "Only organisers can create challenges. Ask the operator of this server for the organiser role."
        )
    checks = FieldChecks()
    check_slug(checks, slug)
    known = chosen_edition(checks, edition, edition_file)
    rules = check_rules(checks, rules, known)
    checks.finish()
    challenge = Challenge(
        id=challenge_id,
        slug=slug,
        edition=known.name if known else "",
        edition_file=edition_file,
        edition_version=edition_version,
        competitions=competition_rows(rules.competitions or ()),
        imported_at=imported_at,
        further_phases=[],
        **rules.columns(),
    )
    try:
        with session.begin_nested():
            session.add(challenge)
            session.flush()
    except IntegrityError:
        raise ConflictError(f"The URL name {slug!r} is already taken. Choose a different one.") from None
    session.add(ChallengeOrganiser(challenge_id=challenge.id, user_id=organiser.id, is_owner=True))
    file_hash = sha256(edition_file.encode()).hexdigest() if edition_file else None
    details = dict(rules) | {"edition": challenge.edition, "edition_file": file_hash}
    audit.record(session, actor=organiser, action="challenge.create", subject=challenge, details=details)
    return challenge


def update(session: Session, *, challenge: Challenge, user: User, rules: ChallengeRules) -> None:
    """Change the rules of a challenge from `get_organised`; slug and edition do not change.

    Of an archived one, only title, description and visibility can be changed.

    Raises:
        InvalidInputError: with all errors, including competitions that the current ground truth cannot score.
        ConflictError: a competition to be removed has submissions, or the challenge is archived.
    """
    queries.lock_challenge(session, challenge.id)
    freezing.freeze_due(session, challenge)
    old = rules_of(challenge)
    before = dict(old)
    checks = FieldChecks()
    rules = check_rules(checks, rules, edition_of(challenge))
    if any(before[name] != value for name, value in dict(rules).items() if name not in CHANGEABLE_FOR_EVER):
        require_not_archived(challenge)
    keys = rules.competitions or ()
    if rules.detail is Detail.EVERYTHING is not challenge.detail and challenge.current_scoring_id is not None:
        checks.fail("detail", EVERYTHING_IS_THE_OPERATORS.format(slug=challenge.slug))
    truth = current_truth(session, phase_named(challenge, MAIN_PHASE))
    if truth is not None and (missing := [key for key in keys if key not in (truth.competitions or ())]):
        checks.fail("competitions", f"The current ground truth cannot score {', '.join(missing)}.")
    checks.finish()
    rules = rules.model_copy(update=with_moved_dates(old, rules))
    require_not_entered(session, challenge, MAIN_PHASE, {row.key for row in challenge.competitions} - set(keys))
    for name, value in rules.columns().items():
        setattr(challenge, name, value)
    challenge.competitions = same_or_new(challenge.competitions, keys)
    session.flush()
    after = dict(rules)
    changes = {name: {"from": before[name], "to": after[name]} for name in after if before[name] != after[name]}
    if changes:
        audit.record(session, actor=user, action="challenge.update", subject=challenge, details=changes)
    move_next_phases(session, challenge, user=user, key=MAIN_PHASE, before=old, after=rules)


def change_phase(
    session: Session,
    *,
    challenge: Challenge,
    user: User,
    key: str,
    title: str | None,
    change: Callable[[PhaseRules], PhaseRules],
) -> Phase:
    """Change some rules of a phase of a challenge that `get_organised` gave, the main phase or another.

    Args:
        title: None to leave it.
        change: given the current rules, returns the new ones.

    Raises:
        NotFoundError: there is no such phase.
        InvalidInputError, ConflictError: as `update` and `update_phase`.
    """
    phase = phase_named(challenge, key)
    rules = change(phase.rules)
    if not phase.is_main:
        title = phase.title if title is None else title
        return update_phase(session, challenge=challenge, user=user, key=key, title=title, rules=rules)
    changes = {name: getattr(rules, name) for name in PhaseRules.model_fields}
    if title is not None:
        changes["phase_title"] = title
    update(session, challenge=challenge, user=user, rules=rules_of(challenge).model_copy(update=changes))
    return phase_named(challenge, key)


def replace_edition_file(session: Session, *, challenge: Challenge, user: User, edition_file: str) -> None:
    """Replace the custom edition file of a challenge; it then runs all competitions of the new edition.

    Args:
        challenge: from `get_organised`.

    Raises:
        InvalidInputError: with all errors of the file.
        ConflictError: there is already ground truth, which was read by the current edition; a re-score can change that.
    """
    lock_to_change(session, challenge)
    checks = FieldChecks()
    edition = chosen_edition(checks, "", edition_file)
    checks.finish()
    if queries.has_read_truth(session, challenge.id):
        raise ConflictError(
            "Ground truth has been uploaded, so the edition can only be changed together with the scores: start a "
            "re-score with the changed edition file."
        )
    if challenge.further_phases:
        raise ConflictError("The edition cannot be changed while there are several phases. Remove the others first.")
    before = challenge.edition
    challenge.edition, challenge.edition_file = edition.name if edition else "", edition_file
    challenge.competitions = same_or_new(challenge.competitions, tuple(edition.competitions) if edition else ())
    session.flush()
    details = {"from": before, "to": challenge.edition, "sha256": sha256(edition_file.encode()).hexdigest()}
    audit.record(session, actor=user, action="challenge.replace_edition", subject=challenge, details=details)


def _find(session: Session, slug: str, viewer: User | None) -> tuple[Challenge, bool]:
    # Anything else is not a slug, and PostgreSQL rejects some characters.
    found = queries.challenge_by_slug(session, slug, viewer) if SLUG.fullmatch(slug) else None
    if found is None:
        raise NotFoundError("This challenge does not exist.")
    return found
