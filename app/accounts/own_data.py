"""What the server stores about a person, for the person to download."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import LargeBinary, or_, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.database import Base

# The tables with rows about a person, and the columns that say about whom they are. What only organisers see of people
# (`submission_sequences`), what the person has done as an organiser, and mail (`outbox`), whose texts the web
# process may not read, are left out.
BY_ID: Mapping[str, str] = {
    "users": "id",
    "sessions": "user_id",
    "api_tokens": "user_id",
    "email_links": "user_id",
    "second_factors": "user_id",
    "security_keys": "user_id",
    "identities": "user_id",
    "challenge_organisers": "user_id",
    "bans": "user_id",
    "team_members": "user_id",
    "submissions": "user_id",
    "submission_people": "user_id",
    "idempotency_keys": "user_id",
    "kept_answers": "user_id",
    "uploads": "user_id",
    "resumable_uploads": "user_id",
    "notifications": "user_id",
    "notification_settings": "user_id",
    "questions": "user_id",
    "webhooks": "user_id",
    "admission_requests": "user_id",
    "terms_acceptances": "user_id",
    "audit_events": "actor_id",
}
BY_EMAIL: Mapping[str, str] = {
    "phase_admissions": "email",
    "extra_quotas": "email",
    "challenge_invitations": "email",
    "team_invitations": "email",
}
OF_TEAM: Mapping[str, str] = {"teams": "id", "methods": "team_id"}  # by the ids of the person's teams
# Secrets, hashes of secrets, and a text that is for organisers. Nor are columns of bytes included, such as hashes of
# tokens and of the images that a method was trained on.
LEFT_OUT = frozenset({"password_hash", "recovery_hashes", "unsubscribe_token", "failure_detail"})


def stored_about(session: Session, user: User) -> dict[str, list[dict[str, Any]]]:
    """Return the rows about a person by table, the values by column."""
    tables = Base.metadata.tables
    own = (tables[name].c for name in ("api_tokens", "submissions"))
    object_id = tables["audit_events"].c.object_id
    of_own = or_(object_id == user.id, *(object_id.in_(select(of.id).where(of.user_id == user.id)) for of in own))
    found = {}
    members = tables["team_members"].c
    teams = select(members.team_id).where(members.user_id == user.id)
    for name, owner in {**BY_ID, **BY_EMAIL, **OF_TEAM}.items():
        table = tables[name]
        shown = [each for each in table.c if each.name not in LEFT_OUT and not isinstance(each.type, LargeBinary)]
        whose = table.c[owner]
        is_own = whose.in_(teams) if name in OF_TEAM else whose == (user.id if name in BY_ID else user.email)
        rows = select(*shown).where(is_own)
        if name == "audit_events":
            rows = rows.where(of_own)
        found[name] = [dict(row) for row in session.execute(rows.order_by(*table.primary_key)).mappings()]
    return found
