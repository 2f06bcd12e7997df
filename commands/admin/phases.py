"""Actions on the phases of challenges: add, change and remove them, admit people, give extra quota."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from vocboard.app.accounts.people import normalised_email
from vocboard.app.challenges import phase_people
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.challenges.phases import Phase, phase_named, phases_of
from vocboard.app.challenges.rules import PhaseRules, given_rules
from vocboard.app.database import now
from vocboard.app.errors import NotFoundError
from vocboard.app.organising import challenge_changes, phase_changes
from vocboard.app.organising.phase_changes import note_on_change
from vocboard.commands.admin.actions import ORGANISER, Actions, Transaction, argument
from vocboard.commands.admin.challenges import PHASE_RULES, instant
from vocboard.commands.tables import Column, render

ACTIONS = Actions()
AN_ORGANISER = argument("--organiser", required=True, metavar="EMAIL", help="an organiser of the challenge")
KEY = argument("key", help="short name of the phase, used in URLs")
PHASE = argument("--phase", default=MAIN_PHASE, metavar="KEY", help=f"(default: {MAIN_PHASE})")
EXTRA = "extra submissions in each competition"
QUOTA = argument("quota", type=UUID, metavar="ID", help="as list-phase-people prints it")


@ACTIONS.reads("slug", AN_ORGANISER)
def list_phases(at: Transaction) -> str:
    """List the phases of a challenge."""
    found, date = phases_of(at.challenge), now()
    columns: list[tuple[str, Callable[[Phase], Any]]] = [
        ("phase", lambda phase: phase.key),
        ("title", lambda phase: phase.title),
        ("state", lambda phase: phase.state(date).value),
        ("opens", lambda phase: phase.rules.opens_at or "-"),
        ("closes", lambda phase: phase.rules.closes_at or "-"),
        ("final from", lambda phase: phase.freezes_at or "-"),
        ("competitions", lambda phase: ", ".join(phase.competitions)),
    ]
    return render([Column(title, [str(value(phase)) for phase in found]) for title, value in columns])


@ACTIONS.changes(
    "slug",
    KEY,
    ORGANISER,
    argument("--title", required=True),
    argument("--image-set", metavar="NAME", help="image set that its competitions are scored on, such as val"),
    argument("--own-ground-truth", action="store_true", help="ground truth is uploaded for this phase"),
    *PHASE_RULES,
)
def add_phase(at: Transaction) -> None:
    """Add a phase to a challenge."""
    phase_changes.add_phase(
        at.session,
        **at.organised,
        key=at.arguments.key,
        title=at.arguments.title,
        rules=PhaseRules(**_given_rules(at)),
        image_set=at.arguments.image_set,
        has_own_truth=at.arguments.own_ground_truth,
    )


@ACTIONS.changes("slug", KEY, ORGANISER, argument("--title"), *PHASE_RULES)
def change_phase(at: Transaction) -> str | None:
    """Change a phase; what is not given stays, and a time given as 'none' is removed."""
    user, challenge, key = at.user, at.challenge, at.arguments.key
    before = phase_named(challenge, key)

    def change(rules: PhaseRules) -> PhaseRules:
        # Not `model_copy`, which would take the texts for what they name.
        return PhaseRules(**{**rules.model_dump(), **given_rules(_given_rules(at))})

    note = note_on_change(challenge, before, change(before.rules))
    challenge_changes.change_phase(
        at.session, challenge=challenge, user=user, key=key, title=at.arguments.title, change=change
    )
    return note


def _given_rules(at: Transaction) -> dict[str, Any]:
    return {name: value for name, value in vars(at.arguments).items() if name in PhaseRules.model_fields}


@ACTIONS.changes("slug", KEY, ORGANISER)
def remove_phase(at: Transaction) -> None:
    """Remove a phase that nothing has been submitted or uploaded to."""
    phase_named(at.organised["challenge"], at.arguments.key)  # a misspelt one is an error
    phase_changes.remove_phase(at.session, **at.organised, key=at.arguments.key)


@ACTIONS.changes("slug", PHASE, ORGANISER, argument("emails", nargs="+", metavar="email"))
def admit(at: Transaction) -> None:
    """Let people submit to a phase that is not open to everyone, or not to new accounts."""
    phase_people.admit(at.session, **_organised(at), phase=_phase(at), emails=at.arguments.emails)


@ACTIONS.changes("slug", PHASE, ORGANISER, "email")
def end_admission(at: Transaction) -> None:
    """End a person's admission to a phase; submissions stay."""
    phase = _phase(at)
    address = normalised_email(at.arguments.email) or ""
    admitted = {(one.phase.key, one.email): one.id for one in phase_people.admissions(at.session, at.challenge)}
    if (phase.key, address) not in admitted:
        raise NotFoundError(f"{at.arguments.email} is not admitted to the phase {phase.key}.")
    phase_people.end_admission(at.session, **_organised(at), admission_id=admitted[phase.key, address])


@ACTIONS.reads("slug", AN_ORGANISER)
def list_phase_people(at: Transaction) -> str:
    """List who is admitted to phases, and who has extra quota."""
    rows = [
        (one.phase.key, one.email, "admitted", *3 * ("",)) for one in phase_people.admissions(at.session, at.challenge)
    ]
    rows += [
        (one.phase.key, one.email, f"{one.count} extra", f"{one.until:%Y-%m-%dT%H:%M}Z", str(one.id), one.reason)
        for one in phase_people.extra_quotas(at.session, at.challenge)
    ]
    titles = ("phase", "email", "what", "until", "id", "reason")
    return render([Column(title, [row[place] for row in rows]) for place, title in enumerate(titles)])


@ACTIONS.changes(
    "slug",
    PHASE,
    ORGANISER,
    "email",
    argument("count", type=int, help=EXTRA),
    argument("--until", type=instant, required=True, metavar="TIME"),
    argument("--reason", default=""),
)
def grant_quota(at: Transaction) -> None:
    """Let a person make more submissions, until a date."""
    phase_people.grant_extra_quota(
        at.session, **_organised(at), phase=_phase(at), email=at.arguments.email, **_quota(at)
    )


@ACTIONS.changes(
    "slug",
    QUOTA,
    ORGANISER,
    argument("--count", type=int, metavar="N", help=EXTRA),
    argument("--until", type=instant, metavar="TIME"),
    argument("--reason"),
)
def change_quota(at: Transaction) -> None:
    """Change extra quota; what is not given stays."""
    phase_people.change_extra_quota(at.session, **_organised(at), grant_id=at.arguments.quota, **_quota(at))


@ACTIONS.changes("slug", QUOTA, ORGANISER)
def end_quota(at: Transaction) -> None:
    """Revoke extra quota; submissions stay."""
    if at.arguments.quota not in {one.id for one in phase_people.extra_quotas(at.session, at.challenge)}:
        raise NotFoundError(phase_people.NO_SUCH_QUOTA)
    phase_people.end_extra_quota(at.session, **_organised(at), grant_id=at.arguments.quota)


def _organised(at: Transaction) -> dict[str, Any]:
    return {"challenge": at.challenge, "organiser": at.user}


def _phase(at: Transaction) -> Phase:
    return phase_named(at.challenge, at.arguments.phase)


def _quota(at: Transaction) -> dict[str, Any]:
    return {"count": at.arguments.count, "until": at.arguments.until, "reason": at.arguments.reason}
