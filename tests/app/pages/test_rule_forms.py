"""The forms of rules give back every rule: none is reset by an organiser who edits another one."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from lxml import html
from sqlalchemy.orm import Session

from tests.app.challenges.test_rules import NOON, RULES
from tests.support.browsing import from_here, send_form, signed_in, token_of
from tests.support.factories import make_challenge, make_organiser
from tests.support.scored import make_published
from tests.support.site import Site
from vocboard.app.challenges.models import Challenge, Detail, Freeze, Visibility
from vocboard.app.challenges.phases import phase_named
from vocboard.app.challenges.queries import challenge_with_phases
from vocboard.app.challenges.rules import MIN_STEP, DataLink, PhaseRules, rules_of
from vocboard.app.database import now
from vocboard.app.errors import InvalidInputError
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.pages.organise.rules import OF_A_NEW_CHALLENGE, SECTIONS, as_typed, done_with, form_of, rules_in

START = datetime(2027, 1, 1, 12, tzinfo=UTC)


def make_with_rules(session: Session, **given: Any) -> Challenge:
    """Make a challenge with other rules than by default."""
    challenge = make_challenge(session, **given)
    for name, value in RULES.model_dump(exclude={"competitions"}).items():
        of = challenge if hasattr(challenge, name) else challenge.main_phase
        setattr(of, "title" if name == "phase_title" else name, value)
    session.flush()
    return challenge


def test_the_form_of_a_challenge_gives_its_rules_back(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge = make_with_rules(session)
        assert rules_in(form_of(challenge)) == rules_of(challenge)


def test_browsers_let_the_form_be_saved_with_every_number_that_a_rule_can_have(embedded_site: Site) -> None:
    least: dict[str, Any] = {"decimals": 1, "quota_count": 1, "quota_period_seconds": 1, "ladder_step": MIN_STEP}
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, **least, team_size=1, min_account_days=0)
    with signed_in(embedded_site, organiser.email) as client:
        page = html.fromstring(client.get(f"/organise/{challenge.slug}/edit").text)
    numbers = page.xpath('//input[@type="number"]')
    assert len(numbers) == 6
    assert [each.get("name") for each in numbers if float(each.get("value")) < float(each.get("min"))] == []


@pytest.mark.parametrize(
    ("opens_at", "closes_at", "said"),
    [
        (None, None, "no deadline"),
        (None, START, "until 2027-01-01 12:00"),
        (START, None, "2027-01-01 12:00 to no deadline"),
    ],
)
def test_the_folded_dates_are_said(
    embedded_site: Site, opens_at: datetime | None, closes_at: datetime | None, said: str
) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, opens_at=opens_at, closes_at=closes_at)
        page, email = f"/organise/{challenge.slug}/edit", organiser.email
    with signed_in(embedded_site, email) as client:
        (summary,) = html.fromstring(client.get(page).text).xpath("//summary[h2[@id='when']]/span/text()")
    assert summary == said


def test_every_field_of_a_challenge_that_exists_is_in_one_section() -> None:
    of_sections = [name for names in SECTIONS.values() for name in names]
    not_changed = {"slug", "edition", "edition_text", "zone", "section", "read", "preview"}
    assert sorted(of_sections) == sorted(OF_A_NEW_CHALLENGE.keys() - not_changed)


def test_a_section_is_saved_apart_and_leaves_the_others(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_with_rules(session, organiser=organiser)
        # More exactly than the form has it.
        challenge.main_phase.freezes_at = NOON + timedelta(days=3, seconds=59)
        challenge.main_phase.quota_period_seconds = 8646
        page, email, before = f"/organise/{challenge.slug}/edit", organiser.email, rules_of(challenge)
        challenge_id = challenge.id
    with signed_in(embedded_site, email) as client:
        shown = html.fromstring(client.get(page).text)
        for section, names in SECTIONS.items():
            fields = shown.xpath(f'//form[.//input[@name="section" and @value="{section}"]]//@name')
            if section != "phase":  # only where there are several
                assert set(names) <= set(fields), section
        # Typed while the dates were in UTC: all of them stay at the same instant.
        answer = send_form(client, page, section="when", zone="utc", opens_at="2026-05-01T10:00", closes_at="")
        assert answer.headers["location"] == f"{page}?done=saved"
        wrong = send_form(client, page, section="how", zone="utc", quota_count="many", title="lost")
        assert wrong.status_code == 422
        assert html.fromstring(wrong.text).xpath('//input[@name="title"]/@value') == [before.title]
    with embedded_site.writing() as session:
        after = rules_of(challenge_with_phases(session, challenge_id))
    changed = {"opens_at": NOON.replace(hour=10), "closes_at": None, "anywhere_on_earth": False}
    assert after == before.model_copy(update=changed)


@pytest.mark.parametrize(
    ("stale", "meanwhile", "refused"),
    [
        ({"section": "when", "closes_at": "2027-03-01T10:00"}, {"section": "when", "closes_at": "2027-04-01T10:00"}, 1),
        # A deadline that is extended moves the date until which leaderboards are anonymous, in another section.
        ({"section": "boards", "freeze": "never"}, {"section": "when", "closes_at": "2027-04-01T10:00"}, 1),
        ({"section": "what", "title": "New"}, {"section": "when", "zone": "aoe", "closes_at": "2027-02-01T00:00"}, 1),
        ({"section": "what", "title": "New"}, {"section": "who", "visibility": "unlisted"}, 0),
        ({"title": "New"}, {"title": "Newer"}, 1),  # of a further phase
    ],
)
def test_what_another_organiser_has_changed_meanwhile_is_only_replaced_on_purpose(
    embedded_site: Site, stale: dict[str, str], meanwhile: dict[str, str], refused: int
) -> None:
    dates = {"closes_at": START + timedelta(days=31), "anonymous_until": START + timedelta(days=31)}
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, **dates)
        late = PhaseRules(competitions=("comp1",), closes_at=START)
        add_phase(session, challenge=challenge, user=organiser, key="late", title="Late", rules=late)
        page, email = f"/organise/{challenge.slug}/edit", organiser.email
    if "section" not in stale:
        page = page.replace("edit", "phases/late")
    with signed_in(embedded_site, email) as client:

        def fields(shown: str) -> dict[str, str]:
            section = f'[input[@name="section" and @value="{stale.get("section")}"]]' if "section" in stale else ""
            form = html.fromstring(shown).xpath(f'//form[@method="post"][input[@name="read"]]{section}')[0]
            return {name: value for name, value in form.form_values() if value} | stale

        before = fields(client.get(page).text)
        assert send_form(client, page, **({} if "section" in stale else before) | meanwhile).status_code == 303
        answer = client.post(page, data=before, headers=from_here(client))
        assert answer.status_code == (409 if refused else 303)
        if refused:
            assert "This has changed since you opened the page" in answer.text
            again = fields(answer.text)
            assert all(again[name] == value for name, value in stale.items())
            assert client.post(page, data=again, headers=from_here(client)).status_code == 303
    if stale.get("title") and meanwhile.get("zone"):
        with embedded_site.database.reading() as session:
            assert session.get_one(Challenge, challenge.id).anywhere_on_earth  # saving a title again leaves it


def test_dates_that_were_typed_before_the_time_zone_changed_stay(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, closes_at=START + timedelta(days=31))
        late = PhaseRules(competitions=("comp1",), closes_at=START)
        add_phase(session, challenge=challenge, user=organiser, key="late", title="Late", rules=late)
        page, email = f"/organise/{challenge.slug}/edit", organiser.email
    with signed_in(embedded_site, email) as client:

        def fields(shown: str, section: str = "") -> dict[str, str]:
            which = f'[input[@name="section" and @value="{section}"]]' if section else ""
            form = html.fromstring(shown).xpath(f'//form[@method="post"][input[@name="read"]]{which}')[0]
            return {name: value for name, value in form.form_values() if value}

        def sent(address: str, typed: dict[str, str]) -> tuple[int, str]:
            answer = client.post(address, data=typed, headers=from_here(client))
            return answer.status_code, answer.text

        phase_page = page.replace("edit", "phases/late")
        title, phase = fields(client.get(page).text, "what"), fields(client.get(phase_page).text)
        new_phase = fields(client.get(page.replace("edit", "new-phase")).text)
        assert send_form(client, page, section="when", zone="aoe", closes_at="2027-02-01T00:00").status_code == 303
        status, shown = sent(page, title)
        assert status == 409
        assert sent(page, fields(shown, "when"))[0] == 409  # in the former zone
        status, shown = sent(phase_page, phase | {"title": "New"})
        assert status == 409
        assert sent(phase_page, fields(shown))[0] == 303
        new_phase |= {"key": "new", "title": "New", "closes_at": "2027-03-01T00:00", "competitions": "comp1"}
        status, shown = sent(page.replace("edit", "new-phase"), new_phase | {"zone": "cet"})
        assert status == 422
        assert "Choose one of these: utc, aoe." in shown
        assert send_form(client, page, section="when", zone="cet", closes_at="2027-02-01T00:00").status_code == 422
        assert sent(page.replace("edit", "new-phase"), new_phase)[0] == 303
    with embedded_site.database.reading() as session:
        found = challenge_with_phases(session, challenge.id)
        assert phase_named(found, "late").rules.closes_at == START
        assert phase_named(found, "new").rules.closes_at == datetime(2027, 3, 1, tzinfo=UTC)


def test_a_draft_is_opened_after_its_page_was_seen_as_participants_see_it(embedded_site: Site) -> None:
    later = now() + timedelta(days=1)
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(
            session, organiser=organiser, visibility=Visibility.DRAFT, leaderboard_from=later, opens_at=None
        )
        make_published(session, challenge, organiser, "A method", 0.5)
        page, slug, email = f"/challenges/{challenge.slug}", challenge.slug, organiser.email
    with signed_in(embedded_site, email) as client:
        own, preview = client.get(page).text, client.get(f"{page}?as=participant").text
        assert ("A method" in own, "A method" in preview) == (True, False)
        assert ("Organise<span" in own, "Organise<span" in preview) == (True, False)
        assert ("Leaderboards are visible from" in own, "Leaderboards are visible from" in preview) == (False, True)
        overview, address = f"/organise/{slug}", f"/organise/{slug}/open"
        assert send_form(client, overview, address, visibility="draft").status_code == 422
        assert send_form(client, overview, address, visibility="unlisted").headers["location"].endswith("done=opened")
        assert "Open challenge" not in client.get(overview).text
    with embedded_site.client() as visitor:
        seen = visitor.get(f"{page}?as=participant")
        assert (seen.status_code, "Preview:" in seen.text) == (200, False)


def test_the_description_is_shown_before_anything_is_stored(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, description="Before")
        page, email, slug = f"/organise/{challenge.slug}/edit", organiser.email, challenge.slug
    with signed_in(embedded_site, email) as client:
        typed = {"title": "", "description": "# *After*", "data_title": "Images", "preview": "yes"}
        for address in (page, "/organise/new"):
            shown = html.fromstring(send_form(client, address, **typed).text)
            assert shown.xpath('//section[@id="preview"]//h3/em/text()') == ["After"]
            assert shown.xpath('//textarea[@name="description"]')[0].text_content().strip() == "# *After*"
            assert shown.xpath('//input[@name="data_title"]/@value') == ["Images", "", ""]
        refused = send_form(client, page, **typed | {"description": "x" * 20_001})
        assert refused.status_code == 422
        assert 'id="description-wrong"' in refused.text
        assert client.get(f"/api/v1/challenges/{slug}").json()["description"] == "Before"


def test_sizes_of_data_are_whole_numbers_and_empty_rows_are_left_out(embedded_site: Site) -> None:
    data = {"data_title": ["", "B"], "data_url": ["", "https://b.example"], "data_bytes": ["", "12 000"]}
    form = {**OF_A_NEW_CHALLENGE, "title": "A", **data}
    assert rules_in(form).data_links == (DataLink(title="B", url="https://b.example", bytes=12_000),)
    with pytest.raises(InvalidInputError) as caught:
        rules_in({**form, "data_bytes": ["", "12 kB"]})
    assert caught.value.fields == {"data_links": "Link 1, size: Give the number of bytes."}


def test_all_errors_are_listed_also_if_some_fields_cannot_be_read(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser)
        page, email = f"/organise/{challenge.slug}", organiser.email
    typed = {"quota_days": "a week", "opens_at": "2026-03-02T12:00", "closes_at": "2026-03-01T12:00", "team_size": "0"}
    typed |= {"edition": "VOC2004", "competitions": "comp1", "image_set": "a b"}
    phase = {"quota_days", "closes_at", "title"}
    with signed_in(embedded_site, email) as client:
        for address, expected in (
            ("/organise/new", {*phase, "slug", "edition", "team_size"}),
            (f"{page}/edit", {*phase, "team_size"}),
            (f"{page}/new-phase", {*phase, "key", "image_set"}),
        ):
            refused = send_form(client, address, **typed)
            assert refused.status_code == 422
            found = re.findall(r'id="(\w+)-wrong"', refused.text)
            assert set(found) == expected, address


def test_a_new_phase_takes_the_rules_of_the_last_one_but_not_its_dates(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        quota = {"quota_count": 1, "quota_period_seconds": 24 * 3600}
        challenge = make_challenge(session, organiser=organiser, freeze=Freeze.DATE, freezes_at=START, **quota)
        page, email = f"/organise/{challenge.slug}/phases", organiser.email
    with signed_in(embedded_site, email) as client:
        (address,) = html.fromstring(client.get(page).text).xpath('//a[text()="Add phase"]/@href')
        answer = client.get(address)
        form = answer.text
        assert re.search(r'name="quota_count"[^>]* value="1"', form)
        assert "1 submission every day<" in form
        chosen = re.search(r'name="freeze" value="(\w+)" checked', form)
        fields = {
            "csrf_token": token_of(answer),
            "title": "New images",
            "key": "new",  # no address of another page
            "freeze": chosen[1],
            "competitions": "comp1",
        }
        added = client.post(address, data=fields, headers=from_here(client))
        assert added.headers.get("location") == f"{page}?done=phase-added"
        assert "<h1>Edit phase</h1>" in client.get(f"{page}/new").text


def test_a_phase_keeps_what_is_not_changed_more_exactly_than_the_form_has_it(embedded_site: Site) -> None:
    rules = PhaseRules(competitions=("comp1",), closes_at=START + timedelta(seconds=59), quota_period_seconds=8646)
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser)
        add_phase(session, challenge=challenge, user=organiser, key="late", title="Late", rules=rules)
        page, email, challenge_id = f"/organise/{challenge.slug}/phases/late", organiser.email, challenge.id
    with signed_in(embedded_site, email) as client:
        typed = as_typed(rules) | {"title": "Later", "detail": "mean"}
        assert send_form(client, page, **typed).headers["location"].endswith("done=phase-saved")
    with embedded_site.writing() as session:
        after = phase_named(challenge_with_phases(session, challenge_id), "late")
    assert (after.title, after.rules) == ("Later", rules.model_copy(update={"detail": Detail.MEAN}))


def test_dates_are_only_said_to_have_moved_if_some_have(embedded_site: Site) -> None:
    day = timedelta(days=1)
    with embedded_site.writing() as session:
        challenge = make_challenge(session, closes_at=now() + day)
    main = phase_named(challenge, "main")
    extended = main.rules.model_copy(update={"closes_at": now() + 2 * day})
    assert done_with(challenge, main, extended) is None
    named = {"anonymous_until": main.rules.closes_at}
    anonymous = replace(main, rules=main.rules.model_copy(update=named))
    assert done_with(challenge, anonymous, extended.model_copy(update=named)) == "deadline"
