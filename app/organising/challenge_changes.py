"""Creating challenges, and changing their rules and editions."""

from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from uuid import UUID, uuid4

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import Role, User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries
from vocboard.app.challenges.editions import chosen_edition, edition_of
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, ChallengeOrganiser, ChallengePhase, Detail
from vocboard.app.challenges.phases import (
    Phase,
    lock_to_change,
    phase_named,
    require_not_archived,
)
from vocboard.app.challenges.rules import ChallengeRules, PhaseRules, check_rules, check_slug, rules_of
from vocboard.app.database import add_unique
from vocboard.app.errors import ConflictError, ForbiddenError
from vocboard.app.forms import FieldChecks
from vocboard.app.leaderboards import freezing
from vocboard.app.organising.phase_changes import (
    EVERYTHING_IS_THE_OPERATORS,
    changed,
    check_against_truth,
    move_next_phases,
    record_changes,
    schedule_freezing,
    store_rules,
    update_phase,
)

# Also when it is archived: what its page says, and who sees it.
CHANGEABLE_FOR_EVER = frozenset(
    {
        "title",
        "summary",
        "description",
        "website",
        "contact",
        "organised_by",
        "licence",
        "citation",
        "data_links",
        "visibility",
    }
)


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
    phase_id: UUID | None = None,
    imported_at: datetime | None = None,
) -> Challenge:
    """Create a challenge with this user as its organiser.

    Args:
        slug: short name, used in URLs.
        edition: name of a built-in edition; empty if there is a file.
        edition_file: content of a custom edition file.
        edition_version: number of this version of the edition, for an imported challenge.
        challenge_id: its id, if other rows have it already.
        phase_id: that of its main phase.
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
    phase_id = phase_id or uuid4()
    main = ChallengePhase(
        id=phase_id, key=MAIN_PHASE, title=rules.phase_title, truth_phase_id=phase_id, **rules.phase_columns()
    )
    challenge = Challenge(
        id=challenge_id,
        slug=slug,
        edition=known.name if known else "",
        edition_file=edition_file,
        edition_version=edition_version,
        imported_at=imported_at,
        phases=[main],
        **rules.challenge_columns(),
    )
    if not add_unique(session, challenge):
        raise ConflictError(f"The URL name {slug!r} is already taken. Choose a different one.")
    schedule_freezing(session, phase_id, rules)
    session.add(ChallengeOrganiser(challenge_id=challenge.id, user_id=organiser.id, is_owner=True))
    file_hash = sha256(edition_file.encode()).hexdigest() if edition_file else None
    details = rules.model_dump() | {"edition": challenge.edition, "edition_file": file_hash}
    audit.record(session, actor=organiser, action="challenge.create", subject=challenge, details=details)
    return challenge


def update(session: Session, *, challenge: Challenge, user: User, rules: ChallengeRules) -> None:
    """Change the rules of a challenge from `get_organised`; slug and edition do not change.

    Of an archived one, only what its page says and its visibility can be changed.

    Raises:
        InvalidInputError: with all errors, including competitions that the current ground truth cannot score.
        ConflictError: a competition to be removed has submissions, or the challenge is archived.
    """
    queries.lock_challenge(session, challenge.id)
    session.refresh(challenge, ["archived_at"])  # another organiser may have archived it before the lock
    freezing.freeze_due(session, challenge)
    old, main = rules_of(challenge), phase_named(challenge, MAIN_PHASE)
    checks = FieldChecks()
    rules = check_rules(checks, rules, edition_of(challenge))
    if changed(old.model_dump(), rules.model_dump()).keys() - CHANGEABLE_FOR_EVER:
        require_not_archived(challenge)
    message = EVERYTHING_IS_THE_OPERATORS.format(slug=challenge.slug)
    check_against_truth(session, checks, rules, scoring_id=main.scoring_id, before=old, already_public=message)
    checks.finish()
    for name, value in rules.challenge_columns().items():
        setattr(challenge, name, value)
    stored = store_rules(session, challenge, main, rules, title=rules.phase_title)
    record_changes(session, challenge, user, MAIN_PHASE, changed(old.model_dump(), stored.model_dump()))
    move_next_phases(session, challenge, user=user, before=main, after=stored)


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
    queries.lock_challenge(session, challenge.id)
    queries.challenge_as_it_is(session, challenge.id)  # another organiser may have changed it before the lock
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


def set_detail(session: Session, *, challenge: Challenge, user: User, detail: Detail) -> None:
    """Change the detail level of a challenge's main phase, even to `everything` when it has ground truth.

    Only for operators: the database does not let the web process do this, so that a compromised web process cannot get
    exact curves, which reveal the ground truth.

    Args:
        user: an organiser, named in the audit log.
    """
    queries.lock_challenge(session, challenge.id)
    freezing.freeze_due(session, challenge)
    before, challenge.main_phase.detail = challenge.main_phase.detail, detail
    session.flush()
    changes = changed({"detail": before.value}, {"detail": detail.value})
    record_changes(session, challenge, user, MAIN_PHASE, changes)


def replace_edition_file(session: Session, *, challenge: Challenge, user: User, edition_file: str) -> None:
    """Replace the custom edition file of a challenge; each phase then runs all competitions of the new edition.

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
    before = challenge.edition
    challenge.edition, challenge.edition_file = edition.name if edition else "", edition_file
    for row in challenge.phases:
        row.competition_keys = list(edition.competitions) if edition else []
    session.flush()
    details = {"from": before, "to": challenge.edition, "sha256": sha256(edition_file.encode()).hexdigest()}
    audit.record(session, actor=user, action="challenge.replace_edition", subject=challenge, details=details)
