"""Email to people who are disqualified or banned: once, with the reason, and only to addresses that are theirs."""

from collections.abc import Sequence
from functools import partial

import pytest
from sqlalchemy import select

from tests.app.organising.case import Case
from tests.support.backend import Backend
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges import service as challenges
from vocboard.app.database import now
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.organising import bans
from vocboard.app.organising import moderation as submissions
from vocboard.app.organising.bans import Results
from vocboard.app.organising.moderation import Action

REASON = "Two accounts.\nSee the rules."
SITE = "https://voc.example"


@pytest.fixture
def case(backend: Backend) -> Case:
    return Case(backend)


def mails(case: Case) -> Sequence[OutgoingMail]:
    with case.backend.database.reading() as session:
        return session.scalars(select(OutgoingMail).order_by(OutgoingMail.created_at, OutgoingMail.recipient)).all()


def ban(case: Case, results: Results, *, server: bool = False) -> None:
    user = case.backend.user(role=Role.ADMINISTRATOR) if server else case.organiser
    with case.backend.database.writing() as session:
        challenge = challenges.get_organised(session, case.challenge.slug, user)
        change = bans.ban_from_server if server else partial(bans.ban, challenge=challenge)
        person = session.get_one(User, case.owner.id)
        change(session, person=person, user=user, reason=REASON, results=results, site=SITE)


def test_the_owner_of_a_disqualified_submission_is_told_the_reason_and_what_to_do(case: Case) -> None:
    case.do(submissions.disqualify, reason=REASON, site=SITE)
    [mail] = mails(case)
    assert (mail.recipient, mail.subject) == (case.owner.email, "Disqualified in A challenge: your submission")
    assert f"    Method\n    https://voc.example/submissions/{case.submission_id}\n" in mail.body
    assert "    Two accounts.\n    See the rules.\n" in mail.body
    assert f"write to the organisers, who can lift the\ndisqualification:\n\n    {SITE}/challenges/" in mail.body
    assert case.organiser.email not in mail.body


def test_each_owner_gets_one_e_mail_about_several_submissions(case: Case) -> None:
    bob = case.backend.user(name="Bob")
    ids = [case.submission_id, case.scored("Second"), case.scored("Third", bob)]
    case.act(Action.DISQUALIFY, *ids, reason=REASON, site=SITE)
    found = {mail.recipient: mail for mail in mails(case)}
    assert found.keys() == {case.owner.email, bob.email}
    assert found[case.owner.email].subject.endswith(": 2 submissions")
    assert "    Method\n" in found[case.owner.email].body
    assert "    Second\n" in found[case.owner.email].body
    assert "Second" not in found[bob.email].body


@pytest.mark.parametrize("bulky", [False, True])
def test_the_owner_is_told_that_a_disqualification_is_lifted(case: Case, bulky: bool) -> None:
    case.do(submissions.disqualify, reason=REASON, site=SITE)
    if bulky:
        case.act(Action.REINSTATE, case.submission_id, site=SITE)
    else:
        case.do(submissions.reinstate, site=SITE)
    [_, mail] = mails(case)
    assert (mail.recipient, mail.subject) == (case.owner.email, "Disqualification lifted in A challenge")
    assert f"    Method (published again)\n    https://voc.example/submissions/{case.submission_id}\n" in mail.body


@pytest.mark.parametrize("server", [False, True])
def test_a_person_is_told_that_a_ban_is_lifted(case: Case, server: bool) -> None:
    ban(case, Results.KEEP, server=server)
    user = case.backend.user(role=Role.ADMINISTRATOR)
    with case.backend.database.writing() as session:
        person = session.get_one(User, case.owner.id)
        if server:
            bans.lift_server_ban(session, person=person, user=user, site=SITE)
        else:
            challenge = challenges.get_organised(session, case.challenge.slug, user)
            bans.lift_ban(session, challenge=challenge, person=person, user=user, site=SITE)
    [_, mail] = mails(case)
    subject = "Your account is no longer banned" if server else "You are no longer banned from A challenge"
    assert (mail.recipient, mail.subject) == (case.owner.email, subject)


def test_other_actions_on_several_submissions_send_nothing(case: Case) -> None:
    case.act(Action.UNPUBLISH, case.submission_id, site=SITE)
    assert mails(case) == []


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (Results.KEEP, "None of your published results has been changed."),
        (Results.UNPUBLISH, "Unpublished, and removed from the leaderboards:\n    Method\n"),
        (Results.DISQUALIFY, "Disqualified, and removed from the leaderboards:\n    Method\n"),
    ],
)
def test_who_is_banned_gets_one_e_mail_with_the_reason_and_what_became_of_results(
    case: Case, results: Results, said: str
) -> None:
    ban(case, results)
    [mail] = mails(case)
    assert (mail.recipient, mail.subject) == (case.owner.email, "You are banned from A challenge")
    assert said in mail.body
    assert "    Two accounts.\n    See the rules.\n" in mail.body
    assert "write to the organisers" in mail.body
    assert "You can still sign in" in mail.body


def test_who_is_banned_from_the_server_is_told_before_the_account_is_disabled(case: Case) -> None:
    ban(case, Results.DISQUALIFY, server=True)
    [mail] = mails(case)
    assert mail.subject == "Your account is banned"
    assert "    https://voc.example\n" in mail.body
    assert "you cannot sign in" in mail.body
    assert "Disqualified, and removed from the leaderboards:\n    Method\n" in mail.body


@pytest.mark.parametrize("column", ["disabled", "unconfirmed"])
def test_an_address_that_is_nobodys_gets_nothing(case: Case, column: str) -> None:
    with case.backend.database.writing() as session:
        owner = session.get_one(User, case.owner.id)
        if column == "disabled":
            owner.disabled_at = now()
        else:
            owner.email_confirmed_at = None
    case.do(submissions.disqualify, reason=REASON, site=SITE)
    assert mails(case) == []


def test_a_refused_disqualification_sends_nothing(case: Case) -> None:
    case.do(submissions.disqualify, reason=REASON, site=SITE)
    with pytest.raises(Exception, match="already disqualified"):
        case.do(submissions.disqualify, reason=REASON, site=SITE)
    assert len(mails(case)) == 1
