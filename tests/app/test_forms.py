"""Names that look like others, or like nothing, are refused wherever people type them."""

import pytest

from tests.support.factories import make_challenge, make_token, make_user
from tests.support.site import Site
from vocboard.app.accounts.models import Role
from vocboard.app.errors import InvalidInputError
from vocboard.app.forms import FieldChecks, character_error

INVISIBLE = {
    "right-to-left override": "Best\u202emethod",
    "isolate": "a\u2066b",
    "mark": "a\u200fb",
    "zero-width space": "YOLO\u200b",
    "zero-width joiner between Latin letters": "YO\u200dLO",
    "byte order mark": "\ufeffYOLO",
    "soft hyphen": "YO\u00adLO",
    "word joiner": "YO\u2060LO",
    "Hangul filler": "\u3164",
    "half-width Hangul filler": "\uffa0",
    "Braille blank": "\u2800\u2800",
    "tag characters": "a\U000e0041",
    "variation selector": "a\ufe01",
    "combining grapheme joiner": "a\u034fb",
    "null": "a\x00b",
    "private use": "a\ue000",
    "not assigned": "a\u0378",
    "bell": "bell\x07",
    "lone surrogate": "a\ud800",
    "a heap of marks": "a" + "\u0324" * 5,
}
VISIBLE = [
    "R-CNN 50 %",
    "Müller & Söhne",
    "Nguyễn Văn A",
    "می‌خواهم",
    "क्‍ष",
    "王小明",
    "❤️ net",
    "α–β: “γ”",
    "O'Brien",
    "👩‍🔬",
]


@pytest.mark.parametrize("name", INVISIBLE.values(), ids=INVISIBLE)
def test_what_cannot_be_seen_is_refused(name: str) -> None:
    checks = FieldChecks()
    checks.line("method_name", name, max_length=100, required=True)
    with pytest.raises(InvalidInputError) as refused:
        checks.finish()
    assert refused.value.fields["method_name"].startswith(("Remove the invisible character U+", "Use at most 4"))


@pytest.mark.parametrize("name", VISIBLE)
def test_names_of_all_scripts_are_taken(name: str) -> None:
    assert FieldChecks().line("name", name, max_length=100) == name.replace("\ufe0f", "")
    assert character_error(name.replace("\ufe0f", "")) is None


def test_what_looks_the_same_is_stored_the_same() -> None:
    checks = FieldChecks()
    composed, decomposed = (checks.line("name", name, max_length=10) for name in ("Ren\u00e9", "Rene\u0301"))
    assert composed == decomposed == "Ren\u00e9"


def test_a_message_says_which_character_and_where() -> None:
    assert (
        character_error("abc\u202edef") == "Remove the invisible character U+202E (right-to-left override) after “abc”."
    )
    assert (
        character_error("\u200b", allowed="\n")
        == "Remove the invisible character U+200B (zero width space) at the beginning."
    )


def test_every_form_refuses_them(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_user(session, role=Role.ORGANISER)
        token = make_token(session, organiser)
        slug = make_challenge(session, organiser=organiser).slug
    with embedded_site.client(token) as client:
        title = client.patch(f"/api/v1/challenges/{slug}", json={"title": "VOC\u202e2007"})
        upload = client.post(
            f"/api/v1/challenges/{slug}/submissions",
            data={"method_name": "\u3164", "contributors": "A\u200bB", "affiliation": "\u202eL"},
            files={"archive": ("r.tar", b"")},
        )
    assert (title.status_code, set(title.json()["fields"])) == (422, {"title"})
    assert (upload.status_code, set(upload.json()["fields"])) == (422, {"method_name", "contributors", "affiliation"})
