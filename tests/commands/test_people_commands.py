"""`vocboard teams`, `questions`, `announcements`, `notifications` and `account`; the same from Python."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import vocboard
from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.site import Site, serving
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.settings import Settings
from vocboard.client.errors import MisuseError, RefusedError
from vocboard.commands.main import main

pytestmark = pytest.mark.usefixtures("own_settings")


class People:
    """Users of a server with the challenge `voc`, and the program as one of them."""

    def __init__(self, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.url, self._monkeypatch, self._capsys, self.err = site.url, monkeypatch, capsys, ""
        with site.writing() as session:
            olga = make_organiser(session, name="Olga")
            make_challenge(session, organiser=olga, slug="voc", team_size=3)
            users = {"olga": olga} | {name.lower(): make_user(session, name=name) for name in ("Ada", "Bob")}
            self.tokens = {name: make_token(session, user) for name, user in users.items()}
            notify(session, [users["ada"].id], NotificationKind.SCORED, title="Scored: R-CNN", link="/submissions/1")

    def __call__(self, who: str, *arguments: str, status: int = 0) -> str:
        """Run the program; return what it printed, or its error."""
        self._monkeypatch.setenv("VOCBOARD_SERVER", self.url)
        self._monkeypatch.setenv("VOCBOARD_TOKEN", self.tokens[who])
        assert main(arguments) == status
        out, self.err = self._capsys.readouterr()
        return self.err if status else out

    def client(self, who: str) -> vocboard.Client:
        return vocboard.Client(self.url, self.tokens[who])


@pytest.fixture
def people(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[People]:
    with serving(Settings(data_directory=tmp_path / "data", database_url=sqlite_url)) as site:
        yield People(site, monkeypatch, capsys)


def test_a_team_at_the_command_line(people: People) -> None:
    assert "You have no team in this challenge" in people("ada", "teams", "show", "voc", status=2)
    assert "did you mean voc?" in people("ada", "teams", "show", "vco", status=2)
    assert people("ada", "teams", "found", "voc", "Lakes") == "Lakes\n  Ada, owner\n"
    link = people("ada", "teams", "invite", "voc").strip()
    assert "/team-invitations/" in link
    assert "\n  invited: by a link, until " in people("ada", "teams", "show", "voc")
    assert people("bob", "teams", "accept", link) == "Lakes\n  Ada, owner\n  Bob, member\n"
    assert "no member is called Eve; members: Ada (" in people("ada", "teams", "remove", "voc", "Eve", status=2)
    assert "Bob, owner" in people("ada", "teams", "hand-over", "voc", "bob")
    assert people("ada", "teams", "leave", "voc") == ""
    assert people("bob", "teams", "show", "voc") == "Lakes\n  Bob, owner\n"
    [member] = json.loads(people("bob", "teams", "show", "voc", "--json"))["members"]
    assert (member["name"], member["role"]) == ("Bob", "owner")


def test_a_team_from_python(people: People) -> None:
    with people.client("ada") as ada, people.client("bob") as bob:
        assert ada.found_team("voc", "Lakes").name == "Lakes"
        token = ada.invite("voc").rpartition("/")[2]
        team = bob.accept_invitation(token)
        assert {one.name: one.role for one in team.members} == {"Ada": "owner", "Bob": "member"}
        assert ada.make_owner("voc", team.members[1].user[:12]).members[1].role == "owner"
        bob.remove_member("voc", "Ada")
        with pytest.raises(RefusedError, match="no team"):
            ada.team("voc")
        with pytest.raises(MisuseError, match="no member"):
            bob.remove_member("voc", "Ada")


def test_questions_announcements_and_notifications(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = people("ada", "questions", "ask", "voc", "May we use\nImageNet?")
    assert asked.endswith("  May we use\n  ImageNet?\n  (no answer yet)\n")
    identifier = asked.split()[0]
    assert people("bob", "questions", "list", "voc") == ""
    assert people.err == "vocboard: there is nothing to list\n"
    assert ", Ada\n" in people("olga", "questions", "list", "voc")
    assert "no questions begin with zz" in people("olga", "questions", "answer", "voc", "zz", "Yes.", status=2)
    monkeypatch.setattr("sys.stdin", io.StringIO("Yes,\nyou may.\n"))
    people("olga", "questions", "answer", "voc", identifier, "-", "--public")
    assert "  Answer, public:\n    Yes,\n    you may.\n" in people("bob", "questions", "list", "voc")
    assert people("olga", "announcements", "add", "voc", "Deadline moved", "By a *week*.") == ""
    assert people("bob", "announcements", "list", "voc").endswith("  Deadline moved\n  By a *week*.\n")
    assert "lacks the scope" in people("bob", "announcements", "add", "voc", "No", "x", status=2)
    listed = people("ada", "notifications", "list", "--unread").splitlines()
    assert len(listed) == 2
    assert listed[-1].endswith("Scored: R-CNN  /submissions/1")
    assert all(line.startswith("* ") for line in listed)
    with people.client("ada") as ada:
        [answered, scored] = ada.notifications(unread=True)
        people("ada", "notifications", "read", scored.id)
        assert [one.id for one in ada.notifications(unread=True)] == [answered.id]
        ada.mark_read()
        assert ada.notifications(unread=True) == []
        assert ada.emails(scored=False)["scored"] is False
        [found] = ada.questions("voc")
        assert (found.answer, found.is_public, found.asked_by) == ("Yes,\nyou may.", True, None)
        assert ada.ask("voc", "Why?").answer is None
        assert [one.title for one in ada.announcements("voc")] == ["Deadline moved"]
    with people.client("olga") as olga:
        assert olga.answer("voc", olga.questions("voc")[0].id, "So.").is_public is False
        assert olga.announce("voc", "Over", "Thank you.").title == "Over"
    assert "off  scored\n" in people("ada", "notifications", "emails", "--on", "team")
    assert "on   scored\n" in people("ada", "notifications", "emails", "--on", "scored", "--off", "answer")
    assert "no-such" in people("ada", "notifications", "emails", "--on", "no-such", status=2)


@pytest.mark.parametrize("options", [(), ("--challenge", "voc")], ids=["own", "of a challenge"])
def test_webhooks_at_the_command_line(people: People, options: tuple[str, ...]) -> None:
    address = "https://hooks.example/voc"
    assert "submission.corrected" in people("olga", "webhooks", "add", address, "no.such", *options, status=2)
    identifier, secret = people("olga", "webhooks", "add", address, "submission.scored", *options).split()
    assert secret.startswith("whsec_")
    assert people("olga", "webhooks", "list", *options) == f"{identifier}  {address}  submission.scored\n"
    assert people("olga", "webhooks", "test", identifier, *options) == ""
    assert people("olga", "webhooks", "deliveries", identifier, *options).endswith("  webhook.test  waits\n")
    challenge = options[1] if options else None
    with people.client("olga") as olga:
        assert [one.id for one in olga.webhooks(challenge=challenge)] == [identifier]
        tested = olga.test_webhook(identifier, challenge=challenge)
        assert [one.id for one in olga.deliveries(identifier, challenge=challenge)][:1] == [tested.id]
        added = olga.add_webhook(address, ["challenge.announced"], challenge=challenge)
        assert added.secret
        olga.remove_webhook(added.id, challenge=challenge)
    people("olga", "webhooks", "remove", identifier, *options)
    assert people("olga", "webhooks", "list", *options) == ""


def test_an_account_at_the_command_line(people: People) -> None:
    assert "say what to change" in people("ada", "account", "change", status=2)
    people("ada", "account", "change", "--name", "Ada Lovelace")
    [stored] = json.loads(people("ada", "account", "export"))["users"]
    assert stored["name"] == "Ada Lovelace"
    with people.client("ada") as ada:
        ada.change_account(affiliation="Analytical Society")
        [stored] = ada.export_account()["users"]
        assert (stored["name"], stored["affiliation"]) == ("Ada Lovelace", "Analytical Society")
