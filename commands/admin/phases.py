"""Actions on the phases of challenges: add, change and remove them, admit people, give extra quota."""

import argparse
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from vocboard.app.accounts import administration
from vocboard.app.accounts.models import User
from vocboard.app.accounts.people import normalised_email
from vocboard.app.challenges import phase_people, service
from vocboard.app.challenges.models import MAIN_PHASE, Admission, Challenge, Detail, Freeze
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import Database, now
from vocboard.app.errors import NotFoundError
from vocboard.app.organising import challenge_changes, phase_changes
from vocboard.app.organising.phase_changes import note_on_change
from vocboard.app.settings import Settings
from vocboard.commands.admin.actions import Actions
from vocboard.commands.admin.challenges import instant, seconds_of_days
from vocboard.commands.tables import Column, render


def configure(actions: Actions) -> None:
    """Add the actions."""
    action = actions.add_parser("list-phases", help="list the phases of a challenge")
    action.add_argument("slug")
    action.add_argument("--organiser", required=True, metavar="EMAIL", help="an organiser of the challenge")
    action.set_defaults(do=list_phases)

    action = actions.add_parser("add-phase", help="add a phase to a challenge")
    _on_phase(action, key="key")
    action.add_argument("--title", required=True)
    action.add_argument(
        "--image-set", metavar="NAME", help="image set that its competitions are scored on, such as val"
    )
    action.add_argument("--own-ground-truth", action="store_true", help="ground truth is uploaded for this phase")
    _add_rules(action)
    action.set_defaults(do=add_phase)

    action = actions.add_parser(
        "change-phase", help="change a phase; what is not given stays, and a time given as 'none' is removed"
    )
    _on_phase(action, key="key")
    action.add_argument("--title")
    _add_rules(action)
    action.set_defaults(do=change_phase)

    action = actions.add_parser("remove-phase", help="remove a phase that nothing has been submitted or uploaded to")
    _on_phase(action, key="key")
    action.set_defaults(do=remove_phase)

    action = actions.add_parser(
        "admit", help="let people submit to a phase that is not open to everyone, or not to new accounts"
    )
    _on_phase(action)
    action.add_argument("emails", nargs="+", metavar="email")
    action.set_defaults(do=admit)

    action = actions.add_parser("end-admission", help="end a person's admission to a phase; submissions stay")
    _on_phase(action)
    action.add_argument("email")
    action.set_defaults(do=end_admission)

    action = actions.add_parser("list-phase-people", help="list who is admitted to phases, and who has extra quota")
    action.add_argument("slug")
    action.add_argument("--organiser", required=True, metavar="EMAIL", help="an organiser of the challenge")
    action.set_defaults(do=list_phase_people)

    action = actions.add_parser("grant-quota", help="let a person make more submissions, until a date")
    _on_phase(action)
    action.add_argument("email")
    action.add_argument("count", type=int, help="extra submissions in each competition")
    action.add_argument("--until", type=instant, required=True, metavar="TIME")
    action.add_argument("--reason", default="")
    action.set_defaults(do=grant_quota)

    action = actions.add_parser("change-quota", help="change extra quota; what is not given stays")
    _on_quota(action)
    action.add_argument("--count", type=int, metavar="N", help="extra submissions in each competition")
    action.add_argument("--until", type=instant, metavar="TIME")
    action.add_argument("--reason")
    action.set_defaults(do=change_quota)

    action = actions.add_parser("end-quota", help="revoke extra quota; submissions stay")
    _on_quota(action)
    action.set_defaults(do=end_quota)


def _add_rules(action: argparse.ArgumentParser) -> None:
    """Add the rules of a phase, each under its name in `PhaseRules`."""
    add = partial(action.add_argument, default=argparse.SUPPRESS)
    add("--competition", dest="competitions", action="append", metavar="KEY", help="can be repeated (default: all)")
    add("--opens-at", type=instant_or_none, metavar="TIME", help="ISO 8601; UTC unless it has an offset")
    add("--closes-at", type=instant_or_none, metavar="TIME")
    add("--quota", dest="quota_count", type=int, metavar="N")
    add("--quota-days", dest="quota_period_seconds", type=seconds_of_days, metavar="DAYS")
    add("--shared-quota", action=argparse.BooleanOptionalAction, help="one for all with the same ground truth")
    add("--detail", choices=list(map(str, Detail)))
    add("--admission", choices=list(map(str, Admission)), help="who may submit (default: everyone)")
    add("--min-account-days", type=int, metavar="DAYS", help="minimum age of accounts that submit (default: 0)")
    add("--leaderboard-from", type=instant_or_none, metavar="TIME", help="when leaderboards become visible")
    add("--anonymous-until", type=instant_or_none, metavar="TIME", help="when leaderboards begin to show names")
    add("--freeze", choices=list(map(str, Freeze)), help="when leaderboards stop changing (default: closing)")
    add(
        "--ladder-step",
        type=step_or_none,
        metavar="FRACTION",
        help="hide scores until the phase closes, except new bests of each person, rounded to this step, such as 0.01",
    )
    add("--freezes-at", type=instant_or_none, metavar="TIME", help="with --freeze date")


def _on_phase(action: argparse.ArgumentParser, *, key: str = "--phase") -> None:
    action.add_argument("slug")
    if key.startswith("--"):
        action.add_argument(key, default=MAIN_PHASE, metavar="KEY", help=f"(default: {MAIN_PHASE})")
    else:
        action.add_argument(key, help="short name of the phase, used in URLs")
    action.add_argument(
        "--organiser", required=True, metavar="EMAIL", help="organiser of the challenge, named in the audit log"
    )


def _on_quota(action: argparse.ArgumentParser) -> None:
    action.add_argument("slug")
    action.add_argument("quota", type=UUID, metavar="ID", help="as list-phase-people prints it")
    action.add_argument(
        "--organiser", required=True, metavar="EMAIL", help="organiser of the challenge, named in the audit log"
    )


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
    return None if text == "none" else float(text)


def list_phases(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Print the phases of a challenge, by opening date."""
    with database.reading() as session:
        user = administration.get_user(session, arguments.organiser)
        found = service.phases_of(service.get_organised(session, arguments.slug, user))
    at = now()
    columns: list[tuple[str, Callable[[service.Phase], Any]]] = [
        ("phase", lambda phase: phase.key),
        ("title", lambda phase: phase.title),
        ("state", lambda phase: phase.state(at).value),
        ("opens", lambda phase: phase.rules.opens_at or "-"),
        ("closes", lambda phase: phase.rules.closes_at or "-"),
        ("final from", lambda phase: phase.freezes_at or "-"),
        ("competitions", lambda phase: ", ".join(phase.competitions)),
    ]
    print(render([Column(title, [str(value(phase)) for phase in found]) for title, value in columns]))
    return 0


def add_phase(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Add a phase."""
    given = {name: value for name, value in vars(arguments).items() if name in PhaseRules.model_fields}
    with database.writing() as session:
        user, challenge = _organised(session, arguments)
        phase_changes.add_phase(
            session,
            challenge=challenge,
            user=user,
            key=arguments.key,
            title=arguments.title,
            rules=PhaseRules(**given),
            image_set=arguments.image_set,
            has_own_truth=arguments.own_ground_truth,
        )
    return 0


def change_phase(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Change a phase, the main one or another."""
    given = {name: value for name, value in vars(arguments).items() if name in PhaseRules.model_fields}
    with database.writing() as session:
        user, challenge = _organised(session, arguments)
        before = service.phase_named(challenge, arguments.key)
        # Not `model_copy`, which would take the texts for what they name.
        rules = PhaseRules(**{**before.rules.model_dump(), **given})
        note = note_on_change(challenge, before, rules)
        challenge_changes.change_phase(
            session,
            challenge=challenge,
            user=user,
            key=arguments.key,
            title=arguments.title,
            change=lambda _rules: rules,
        )
    if note is not None:
        print(note)
    return 0


def remove_phase(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Remove a phase."""
    with database.writing() as session:
        user, challenge = _organised(session, arguments)
        service.phase_named(challenge, arguments.key)  # a misspelt one is an error
        phase_changes.remove_phase(session, challenge=challenge, user=user, key=arguments.key)
    return 0


def admit(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Admit people."""
    with database.writing() as session:
        user, challenge = _organised(session, arguments)
        phase = service.phase_named(challenge, arguments.phase)
        phase_people.admit(session, challenge=challenge, phase=phase, organiser=user, emails=arguments.emails)
    return 0


def end_admission(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """End a person's admission."""
    with database.writing() as session:
        user, challenge = _organised(session, arguments)
        phase = service.phase_named(challenge, arguments.phase)
        address = normalised_email(arguments.email) or ""
        admitted = {(one.phase.key, one.email): one.id for one in phase_people.admissions(session, challenge)}
        if (phase.key, address) not in admitted:
            raise NotFoundError(f"{arguments.email} is not admitted to the phase {phase.key}.")
        admission_id = admitted[phase.key, address]
        phase_people.end_admission(session, challenge=challenge, organiser=user, admission_id=admission_id)
    return 0


def list_phase_people(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Print who is admitted to the phases of a challenge, and who has extra quota."""
    with database.reading() as session:
        _, challenge = _organised(session, arguments)
        admitted = phase_people.admissions(session, challenge)
        extra = phase_people.extra_quotas(session, challenge)
    rows = [(one.phase.key, one.email, "admitted", "", "", "") for one in admitted]
    rows += [
        (one.phase.key, one.email, f"{one.count} extra", f"{one.until:%Y-%m-%dT%H:%M}Z", str(one.id), one.reason)
        for one in extra
    ]
    titles = ("phase", "email", "what", "until", "id", "reason")
    print(render([Column(title, [row[place] for row in rows]) for place, title in enumerate(titles)]))
    return 0


def grant_quota(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Grant extra quota."""
    with database.writing() as session:
        user, challenge = _organised(session, arguments)
        phase_people.grant_extra_quota(
            session,
            challenge=challenge,
            phase=service.phase_named(challenge, arguments.phase),
            organiser=user,
            email=arguments.email,
            count=arguments.count,
            until=arguments.until,
            reason=arguments.reason,
        )
    return 0


def change_quota(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Change extra quota."""
    with database.writing() as session:
        user, challenge = _organised(session, arguments)
        phase_people.change_extra_quota(
            session,
            challenge=challenge,
            organiser=user,
            grant_id=arguments.quota,
            count=arguments.count,
            until=arguments.until,
            reason=arguments.reason,
        )
    return 0


def end_quota(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Revoke extra quota."""
    with database.writing() as session:
        user, challenge = _organised(session, arguments)
        if arguments.quota not in {one.id for one in phase_people.extra_quotas(session, challenge)}:
            raise NotFoundError(phase_people.NO_SUCH_QUOTA)
        phase_people.end_extra_quota(session, challenge=challenge, organiser=user, grant_id=arguments.quota)
    return 0


def _organised(session: Session, arguments: argparse.Namespace) -> tuple[User, Challenge]:
    user = administration.get_user(session, arguments.organiser)
    return user, service.get_organised(session, arguments.slug, user)
