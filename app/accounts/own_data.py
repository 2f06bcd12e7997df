"""What the server stores about a person, for the person to download."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import LargeBinary, or_, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.accounts.privacy import EMAIL, STORED
from vocboard.app.database import Base

# By table. What the person has done as an organiser is left out, too.
COLUMNS: Mapping[str, str] = {name: one.column for name, one in STORED.items() if one.column is not None}
OF_TEAM = frozenset({"teams", "methods"})  # whose columns have the ids of the person's teams
# Secrets, hashes of secrets, and texts for organisers: columns, of one table or of all. Nor are columns of bytes
# included, such as hashes of tokens and of the images that a method was trained on.
LEFT_OUT = frozenset({"password_hash", "recovery_hashes", "unsubscribe_token", "failure_detail", "extra_quotas.reason"})


def stored_about(session: Session, user: User) -> dict[str, list[dict[str, Any]]]:
    """Return the rows about a person by table, the values by column."""
    tables = Base.metadata.tables
    own = (tables[name].c for name in ("api_tokens", "submissions"))
    object_id = tables["audit_events"].c.object_id
    of_own = or_(object_id == user.id, *(object_id.in_(select(of.id).where(of.user_id == user.id)) for of in own))
    found = {}
    members = tables["team_members"].c
    teams = select(members.team_id).where(members.user_id == user.id)
    submissions = tables["submissions"].c
    of_others = submissions.is_rehearsal & (submissions.user_id != user.id)  # whose team does not see it
    for name, column in COLUMNS.items():
        table = tables[name]
        named = [each for each in table.c if LEFT_OUT.isdisjoint({each.name, str(each)})]
        shown = [each for each in named if not isinstance(each.type, LargeBinary)]
        whose = table.c[column]
        is_own = whose.in_(teams) if name in OF_TEAM else whose == (user.email if column == EMAIL else user.id)
        rows = select(*shown).where(is_own)
        if name == "audit_events":
            rows = rows.where(of_own)
        if name == "submissions":  # which stay with a team that the person has left
            rows = rows.where(table.c.team_id.in_(teams))
        if name == "submission_people":
            rows = rows.where(table.c.submission_id.not_in(select(submissions.id).where(of_others)))
        if name == "methods":
            of_team = select(submissions.method_id).where(submissions.team_id.in_(teams))
            is_seen = table.c.id.in_(of_team.where(~of_others))
            rows = rows.where(or_(is_seen, table.c.id.not_in(of_team.where(of_others))))
        found[name] = [dict(row) for row in session.execute(rows.order_by(*table.primary_key)).mappings()]
    return found
