"""Actions on the phases of challenges: list and add them, admit people, grant extra quota."""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.accounts import administration
from vocboard.app.accounts.models import User
from vocboard.app.challenges import phase_people, service
from vocboard.app.challenges.models import MAIN_PHASE, Admission, Challenge, Detail, Freeze
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import Database, now
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
    action.add_argument("--image-set", metavar="NAME", help="which its competitions are scored on, such as val")
    action.add_argument("--own-ground-truth", action="store_true", help="ground truth is uploaded for this phase")
    add = partial(action.add_argument, default=argparse.SUPPRESS)
    add("--competition", dest="competitions", action="append", metavar="KEY", help="can be repeated (default: all)")
    add("--opens-at", type=instant, metavar="TIME", help="ISO 8601; UTC unless it has an offset")
    add("--closes-at", type=instant, metavar="TIME")
    add("--quota", dest="quota_count", type=int, metavar="N")
    add("--quota-days", dest="quota_period_seconds", type=seconds_of_days, metavar="DAYS")
    add("--detail", choices=list(map(str, Detail)))
    add("--admission", choices=list(map(str, Admission)), help="who may submit (default: everyone)")
    add("--leaderboard-from", type=instant, metavar="TIME", help="when leaderboards become visible")
    add("--anonymous-until", type=instant, metavar="TIME", help="when leaderboards begin to show names")
    add("--freeze", choices=list(map(str, Freeze)), help="when leaderboards stop changing (default: closing)")
    add("--freezes-at", type=instant, metavar="TIME", help="with --freeze date")
    action.set_defaults(do=add_phase)

    action = actions.add_parser("admit", help="let a person submit to a phase that is not open to everyone")
    _on_phase(action)
    action.add_argument("email")
    action.set_defaults(do=admit)

    action = actions.add_parser("grant-quota", help="let a person make more submissions, until a date")
    _on_phase(action)
    action.add_argument("email")
    action.add_argument("count", type=int, help="extra submissions in each competition")
    action.add_argument("--until", type=instant, required=True, metavar="TIME")
    action.add_argument("--reason", default="")
    action.set_defaults(do=grant_quota)


def _on_phase(action: argparse.ArgumentParser, *, key: str = "--phase") -> None:
    action.add_argument("slug")
    if key.startswith("--"):
        action.add_argument(key, default=MAIN_PHASE, metavar="KEY", help=f"(default: {MAIN_PHASE})")
    else:
        action.add_argument(key, help="its name in addresses")
    action.add_argument("--organiser", required=True, metavar="EMAIL", help="who answers for it")


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
        service.add_phase(
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


def admit(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Admit a person."""
    with database.writing() as session:
        user, challenge = _organised(session, arguments)
        phase = service.phase_named(challenge, arguments.phase)
        phase_people.admit(session, challenge=challenge, phase=phase, organiser=user, email=arguments.email)
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


def _organised(session: Session, arguments: argparse.Namespace) -> tuple[User, Challenge]:
    user = administration.get_user(session, arguments.organiser)
    return user, service.get_organised(session, arguments.slug, user)
