"""Whatever organisers write, pages show it as text; see also `test_untrusted_markdown.py`."""

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from lxml import etree, html

from tests.support.browsing import send_form, signed_in
from tests.support.factories import make_challenge, make_file, make_organiser, make_reported
from tests.support.markup_attacks import HTML, MARKDOWN
from tests.support.site import Site
from vocboard.app.announcements.models import Announcement, Question
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.forms import character_error
from vocboard.app.leaderboards.models import ReportedKind

SHOWN = [text for text in HTML if character_error(text) is None]  # the others cannot be stored
NEVER = ("iframe", "object", "embed", "base", "frame", "style", "math", "template", "marquee", "audio", "video", "img")
TABS = ("", "/data", "/leaderboards", "/rules", "/questions", "/cite")
FEED = {"feed", "id", "title", "updated", "author", "name", "link", "entry", "published", "content"}
ADDRESSES = ("href", "src", "action", "formaction", "xlink:href", "data", "srcset", "poster")


def check(page: str) -> html.HtmlElement:
    """Fail if a page has an element, an attribute or an address that its templates do not have."""
    document = html.fromstring(page)
    for each in document.iter():
        if not isinstance(each.tag, str):
            continue
        assert each.tag not in NEVER
        assert not [name for name in each.attrib if name.startswith("on") or name in {"srcdoc", "style"}]
        for name in ADDRESSES:
            assert urlsplit(each.get(name, "")).scheme in {"", "http", "https", "mailto"}, each.get(name)
        if each.tag == "script":
            assert (each.get("src") or "").startswith("/static/") or each.get("type") == "application/ld+json"
        if each.tag == "link":
            assert each.get("href", "").startswith("/challenges/" if each.get("rel") == "alternate" else "/static/")
        if each.tag == "form":
            assert (each.get("action") or "/").startswith(("/", "#"))
        if each.tag == "meta":
            assert (each.get("http-equiv") or "") == ""
    return document


def hostile(slug: str, titles: list[str]) -> dict[str, object]:
    """Return the texts of a challenge."""
    links = [{"title": text[:100], "url": "https://data.example/?a=b&c='"} for text in titles]
    return {
        "slug": slug,
        "title": next((text for text in titles if '"' in text), titles[0]),
        "summary": titles[-1],
        "description": "\n\n".join(text for text in MARKDOWN if character_error(text, allowed="\n\t") is None),
        "organised_by": "\n".join(titles),
        "citation": "\n".join(titles),
        "data_links": links,
    }


def said(challenge: Challenge, text: str) -> Iterator[Announcement | Question]:
    """Yield an announcement, and a question with a public answer, of this text and the challenge's Markdown."""
    of = {"challenge_id": challenge.id}
    body = f"{text}\n\n{challenge.description}"
    yield Announcement(**of, title=text, text=body, changed_at=now())
    yield Question(**of, text=body, answer=body, answered_at=now(), is_public=True)


@pytest.fixture(scope="module")
def challenges(shared_site: Site) -> Iterator[tuple[httpx.Client, list[Challenge]]]:
    """Yield a browser of their organiser, and challenges with all of these texts; tests only look at them."""
    with shared_site.writing() as session:
        organiser = make_organiser(session)
        found = [
            make_challenge(session, organiser=organiser, **hostile(f"hostile-{number}", titles))
            for number, titles in enumerate(SHOWN[at : at + 12] for at in range(0, len(SHOWN), 12))
        ]
        for each in found:
            paper = {"kind": ReportedKind.PAPER, "reference": "https://papers.example/?a=b&c='"}
            for line in each.organised_by.splitlines():
                make_file(session, each.id, name=line, title=line, media_type="text/plain")
                make_reported(session, each, method=line[:100], note=line, **paper)
                session.add_all(said(each, line))
        email = organiser.email
    with signed_in(shared_site, email) as client:
        yield client, found


def test_most_texts_can_be_stored() -> None:
    assert len(SHOWN) > 45


def test_pages_show_them_as_text(challenges: tuple[httpx.Client, list[Challenge]]) -> None:
    client, found = challenges
    check(client.get("/").text)
    check(client.get("/organise").text)
    for each in found:
        for tab in (*TABS, "/announcements", "/submit", "/leaderboards/comp1"):
            document = check(client.get(f"/challenges/{each.slug}{tab}").text)
            assert " ".join(each.title.split()) in " ".join(document.text_content().split())
        for path in (
            f"/organise/{each.slug}",
            f"/organise/{each.slug}/files",
            f"/organise/{each.slug}/reported",
            f"/organise/{each.slug}/edit",
            f"/organise/{each.slug}/log",
            f"/organise/{each.slug}/announcements",
            f"/organise/{each.slug}/questions",
        ):
            check(client.get(path).text)
    previewed = send_form(
        client, f"/organise/{found[0].slug}/edit", title="x", description=found[0].description, preview="1"
    )
    assert check(previewed.text).xpath('//*[@id="preview"]//li')


def test_the_html_to_embed_a_leaderboard_is_one_frame(challenges: tuple[httpx.Client, list[Challenge]]) -> None:
    client, found = challenges
    for each in found:
        page = html.fromstring(client.get(f"/challenges/{each.slug}/leaderboards/comp1").text)
        (frame,) = html.fragments_fromstring(page.get_element_by_id("embed").text)
        assert set(frame.attrib) == {"src", "width", "height", "title"}
        assert frame.get("title").startswith(f"{each.title}: ")


def test_what_search_engines_read_ends_no_script(challenges: tuple[httpx.Client, list[Challenge]]) -> None:
    client, found = challenges
    for each in found:
        page = client.get(f"/challenges/{each.slug}").text
        raw = page.partition('<script type="application/ld+json">')[2].partition("</script>")[0]
        assert "<" not in raw
        read = json.loads(raw)
        assert (read["name"], read["description"], read["citation"]) == (each.title, each.summary, each.citation)
        files = [line for line in each.organised_by.splitlines() if line]
        links = [link["title"] for link in each.data_links]
        assert [link["name"] for link in read["distribution"]] == [*files, *links]


def test_feeds_are_well_formed_and_their_readers_get_harmless_html(
    challenges: tuple[httpx.Client, list[Challenge]],
) -> None:
    client, found = challenges
    atom = "{http://www.w3.org/2005/Atom}"
    for each in found:
        feed = etree.fromstring(client.get(f"/challenges/{each.slug}/feed.atom").content)
        assert {one.tag.removeprefix(atom) for one in feed.iter()} == FEED
        titles = [entry.findtext(f"{atom}title") for entry in feed.iterfind(f"{atom}entry")]
        assert sorted(titles) == sorted(each.organised_by.splitlines())
        for content in feed.iter(f"{atom}content"):
            assert content.get("type") == "html"
            check(content.text)
