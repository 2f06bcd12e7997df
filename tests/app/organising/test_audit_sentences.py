"""Events as sentences: every action that the code records has one."""

import ast
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

import pytest

from vocboard.app.audit.service import shown, stored
from vocboard.app.challenges.rules import ChallengeRules
from vocboard.app.organising.audit_sentences import PHRASES, sentence

ROOT = Path(__file__).parents[3]


def recorded_actions() -> Iterator[str]:
    """Yield texts such as `submission.publish` of the code that writes to the log."""
    objects = {action.partition(".")[0] for action in PHRASES}
    for package in ("app", "worker", "commands"):
        for path in (ROOT / package).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if "audit" not in source or path.parent.name == "audit":
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("audit.record"):
                    yield from (each.value.value for each in node.keywords if is_action(each))
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    begin, dot, end = node.value.partition(".")
                    if (
                        dot
                        and begin in objects
                        and end not in {"html", "json"}
                        and end.replace("_", "").isalpha()
                        and end.islower()
                    ):
                        yield node.value


def is_action(argument: ast.keyword) -> TypeGuard[Any]:
    """Tell whether an argument of `audit.record` is the action, as a text."""
    return argument.arg == "action" and isinstance(argument.value, ast.Constant)


def test_every_action_that_is_recorded_has_a_sentence() -> None:
    found = set(recorded_actions())
    assert "submission.publish" in found
    missing = sorted(found - set(PHRASES))
    assert not missing, f"{missing} not in PHRASES of app/organising/audit_sentences.py"


@pytest.mark.parametrize("action", sorted(PHRASES))
def test_sentences_of_older_events_lack_nothing_but_what_these_lack(action: str) -> None:
    written = sentence("Olga", action, "“R-CNN” of Ada", {})
    assert written.startswith("Olga ")
    assert written.endswith((".", "”"))
    assert "{" not in written


def test_what_was_changed_is_reported() -> None:
    details = {
        "title": {"from": "Spring", "to": "Summer"},
        "closes_at": {"from": None, "to": "2026-05-01T00:00:00+00:00"},
        "description": {"from": "One", "to": "Two"},
        "on_behalf_of": "6adf99d9-aa33-4fe6-a839-ad08431dbe56",  # of a change at the command line
    }
    assert sentence("Olga", "challenge.update", "?", details) == (
        "Olga changed the title from “Spring” to “Summer”, the closing date from none to 1 May 2026, 00:00 UTC "
        "and the description of the challenge."
    )


def test_dates_are_written_as_on_pages() -> None:
    details = {"email": "ada@lab.example", "count": 2, "phase": "main", "until": "2026-05-01T02:00:00+02:00"}
    written = sentence("Olga", "quota.grant", "?", details)
    assert written == (
        "Olga gave ada@lab.example 2 extra submissions per competition in the main phase until 1 May 2026, 00:00 UTC."
    )
    imported = {"at": details["until"], "text": "Olga disqualified “R-CNN”: “Trained on test images.”"}
    assert sentence("The server", "challenge.imported_event", "?", imported) == (
        "The server imported an event of 1 May 2026, 00:00 UTC from the other server: "
        "Olga disqualified “R-CNN”: “Trained on test images.”"
    )


def test_numbers_have_their_nouns() -> None:
    for given, said in (({"changes": 1}, "1 result"), ({"changes": 0}, "0 results"), ({}, "? results")):
        assert sentence("The server", "rescore.applied", "?", given) == (
            f"The server applied a re-score that changed {said}."
        )
    told = {"title": "New {told} data", "told": 2}
    assert sentence("Olga", "announcement.create", "?", told) == (
        "Olga announced “New {told} data”, and told 2 entrants."
    )


def test_a_text_that_looks_like_an_instant_stays_a_text() -> None:
    """Entries of earlier versions, too: the texts of an entry are whatever somebody has typed."""
    for text in ("2026-02-30T00:00:00Z", "0001-01-01T00:00:00+14:00", "2026-05-01T00:00:00Z"):
        changes = {"contributors": {"from": "", "to": text}}
        assert f"the contributors from none to “{text}”" in sentence("Ada", "submission.describe", "“R-CNN”", changes)
        assert f"the challenge “{text}”" in sentence("Olga", "challenge.create", "?", {"title": text})
        assert "deleted" in sentence("Olga", "challenge.delete", "?", {"title": text, "until": text})


def test_instants_are_stored_with_their_type() -> None:
    until = datetime(2026, 5, 1, tzinfo=UTC)
    given = {"closes_at": {"from": None, "to": until}, "title": {"from": "", "to": until.isoformat()}}
    written = sentence("Olga", "challenge.update", "?", stored(given))
    assert "the closing date from none to 1 May 2026, 00:00 UTC" in written
    assert "the title from none to “2026-05-01T00:00:00+00:00”" in written
    assert shown(stored(given))["closes_at"]["to"] == until.isoformat()


def test_every_rule_of_a_challenge_has_a_name() -> None:
    for name in ChallengeRules.model_fields:
        written = sentence("Olga", "challenge.update", "?", {name: {"from": None, "to": "x"}})
        assert "_" not in written, name


def test_a_ban_tells_what_happened_to_results() -> None:
    details = {"person": "Ada", "reason": "Two accounts.", "results": "disqualify", "submissions": 2}
    assert sentence("Olga", "challenge.ban", "?", details) == (
        "Olga banned Ada from the challenge, and disqualified 2 published results: “Two accounts.”"
    )


def test_an_event_of_another_version_is_reported_as_well_as_can_be() -> None:
    assert sentence("Olga", "challenge.invent_rule", "Spring", {}) == "Olga did “challenge: invent rule” to Spring."
