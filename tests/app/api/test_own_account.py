"""The user's own account: name and affiliation can be changed, and everything stored about a person be downloaded."""

import json

import pytest
from sqlalchemy import LargeBinary

from tests.support.factories import PASSWORD, make_challenge, make_token, make_user
from tests.support.scored import make_submission
from tests.support.site import Site
from vocboard.app.accounts import links
from vocboard.app.accounts.models import LinkPurpose
from vocboard.app.accounts.own_data import COLUMNS, LEFT_OUT
from vocboard.app.challenges.models import Ban, ExtraQuota, PhaseAdmission
from vocboard.app.database import Base, now

# Columns that lead to a person, in tables that are about something else.
OF_OTHER_THINGS = {
    "audit_events.actor_id",  # exported
    "challenge_invitations.invited_by_id",
    "ground_truth_versions.confirmed_by_id",
    "ground_truth_versions.uploaded_by_id",
    "notifications.about_id",  # other people's
    "rescores.apply_requested_by_id",
    "rescores.started_by_id",
    "team_invitations.invited_by_id",
}


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"name": "Ada Lovelace"}, 200),
        ({"affiliation": ""}, 200),
        ({}, 200),
        ({"name": ""}, 422),
        ({"name": None}, 422),
        ({"affiliation": None}, 422),
        ({"name": "A\u202eda"}, 422),
        ({"name": "A" * 201}, 422),
        ({"email": "other@lab.example"}, 422),
        ({"role": "administrator"}, 422),
    ],
)
def test_name_and_affiliation_can_be_changed_and_nothing_else(
    embedded_site: Site, changes: dict[str, str | None], status: int
) -> None:
    with embedded_site.writing() as session:
        user = make_user(session, name="Ada Byron", affiliation="Laboratory")
        secret = make_token(session, user)
    with embedded_site.client(secret) as client:
        before = client.get("/api/v1/me").json()
        answer = client.patch("/api/v1/account", json=changes)
        after = client.get("/api/v1/me").json()
    assert answer.status_code == status
    assert after == before | (changes if status == 200 else {})


def test_what_is_stored_about_a_person_is_exported_and_nothing_about_others(site: Site) -> None:
    with site.writing() as session:
        ada, eve = make_user(session), make_user(session)
        challenge = make_challenge(session)
        for user in (ada, eve):
            make_submission(session, challenge, user, f"Method of {user.name}", {"comp1": ["car"]})
            session.add(PhaseAdmission(phase_id=challenge.phases[0].id, email=user.email))
            session.add(Ban(user_id=user.id, challenge_id=challenge.id, reason=f"{user.name} has two accounts"))
            grant = {"email": user.email, "count": 1, "until": now(), "reason": "for organisers"}
            session.add(ExtraQuota(phase_id=challenge.phases[0].id, **grant))
        link = links.create(session, user=ada, purpose=LinkPurpose.RESET_PASSWORD)
        secret = make_token(session, ada)
    with site.client(secret) as client:
        answer = client.get("/api/v1/account/export")
    found = answer.json()
    assert answer.headers["content-disposition"] == 'attachment; filename="account.json"'
    assert found["users"][0]["email"] == ada.email
    assert [row["name"] for row in found["methods"]] == [f"Method of {ada.name}"]
    assert [row["email"] for row in found["phase_admissions"]] == [ada.email]
    assert [row["reason"] for row in found["bans"]] == [f"{ada.name} has two accounts"]
    assert [row["action"] for row in found["audit_events"]] == ["token.create"]
    assert [row["count"] for row in found["extra_quotas"]] == [1]
    text = json.dumps(found)
    for hidden in ("for organisers", eve.name, eve.email, str(eve.id), secret, link, PASSWORD, "$argon2"):
        assert hidden not in text


def test_no_table_about_people_is_forgotten() -> None:
    """A new table with people is exported, or listed here with its reason."""
    to_people, addresses = set(), set()
    for table in Base.metadata.tables.values():
        for column in table.columns:
            if any(key.column.table.name == "users" for key in column.foreign_keys):
                to_people.add(f"{table.name}.{column.name}")
            if column.name in ("email", "new_email", "recipient"):
                addresses.add(f"{table.name}.{column.name}")
    exported = {f"{table}.{owner}" for table, owner in COLUMNS.items()}
    assert to_people - OF_OTHER_THINGS <= exported
    assert addresses - {"users.email", "bans.email", "email_links.new_email", "outbox.recipient"} <= exported


def test_no_hash_of_a_secret_is_exported() -> None:
    exported = {
        column.name
        for table in COLUMNS
        for column in Base.metadata.tables[table].columns
        if column.name not in LEFT_OUT and not isinstance(column.type, LargeBinary)
    }
    assert not {name for name in exported if "hash" in name or "token" in name or "secret" in name}
