"""The documentation on the site: every link resolves, every problem has its explanation, and nothing else is served."""

from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from lxml import html

from tests.support.browsing import signed_in
from tests.support.factories import make_user
from tests.support.site import Site
from vocboard.app.pages.markdown import render
from vocboard.app.web.guides import DIRECTORY, documents
from vocboard.evaluator.problem_catalogue import CATALOGUE

MAX_BYTES = 300_000


def test_every_link_and_picture_resolves(shared_site: Site) -> None:
    """Crawls from the list of documents; what is not linked from it is not reached."""
    pages: dict[str, html.HtmlElement | None] = {}
    wanted, linked = ["/docs"], set[tuple[str, str]]()
    with shared_site.client() as client:
        while wanted:
            address = wanted.pop()
            answer = client.get(address)
            assert answer.status_code == 200, address
            is_page = answer.headers["content-type"].startswith("text/html")
            pages[address] = page = html.fromstring(answer.text) if is_page else None
            if page is None or not address.startswith("/docs"):
                continue
            assert len(answer.content) < MAX_BYTES, address
            for target in page.xpath("//main//a/@href | //main//img/@src"):
                path, anchor = urldefrag(urljoin(address, target))
                if urlsplit(path).netloc:
                    continue
                linked.add((path, anchor))
                if path not in pages and path not in wanted:
                    wanted.append(path)
    assert {f"/docs/{name}" for name in documents()} <= set(pages)
    for path, anchor in linked:
        if anchor:
            page = pages[path]
            assert page.xpath("//*[@id=$anchor]", anchor=anchor), f"{path}#{anchor}"
    problems = pages["/docs/problems"]
    assert set(CATALOGUE) <= set(problems.xpath("//article//*/@id"))
    images = {path for path in pages if path.startswith("/docs/images/")}
    assert {f"/docs/images/{path.relative_to(DIRECTORY / 'images').as_posix()}" for path in pictures()} - images <= {
        "/docs/images/leaderboard.png"  # in the README alone
    }


def pictures() -> list[Path]:
    return [path for path in (DIRECTORY / "images").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "path",
    [
        "no-such",
        "../README",
        "%2e%2e/pyproject.toml",
        "..%2f..%2fetc%2fpasswd",
        "images",
        "images/../../LICENSE",
    ],
)
def test_nothing_else_is_served(shared_site: Site, path: str) -> None:
    with shared_site.client() as client:
        assert client.get(f"/docs/{path}", follow_redirects=True).status_code == 404


def test_addresses_of_files_lead_to_documents(shared_site: Site) -> None:
    with shared_site.client() as client:
        assert client.get("/docs/editions/own.md").headers["location"] == "/docs/editions/own"
        assert client.get("/docs/docs//evil.example.md").status_code == 404


def test_markdown_cannot_bring_scripts_and_keeps_its_meaning() -> None:
    text = """<!-- generated -->
# Title with `code`

First <script>alert(1)</script> [bad](javascript:alert(1)) <b onclick=x>b</b>

## A heading & more

## A heading & more

| a | b |
|---|--:|
| [there](statistics.md#x) | [not here](../evaluator/examples) |

![picture](images/leaderboard.png)
"""
    found = render(text, DIRECTORY / "x.md", "x")
    assert found.title == "Title with code"
    page = html.fromstring(f"<div>{found.body}</div>")
    assert not page.xpath("//script | //b | //@onclick | //@style | //comment()")
    assert [each.text_content() for each in page.xpath("//*[@class='right']")] == ["b", "not here"]
    assert not [href for href in page.xpath("//@href") if href.startswith("javascript")]
    assert [each.anchor for each in found.contents] == ["a-heading--more", "a-heading--more-1"]
    assert page.xpath("//table//a/@href") == ["/docs/statistics#x"]
    assert "not here" in page.text_content()
    assert page.xpath("//img/@src") == ["/docs/images/leaderboard.png"]


@pytest.mark.parametrize(
    ("wanted", "address"),
    [
        ("new best ladder", "/docs/detail-levels#the-ladder-mechanism"),
        ("not_an_archive", "/docs/problems#not_an_archive"),
        ("back up database", "/docs/operators#back-up"),
    ],
)
def test_search_leads_to_the_section(shared_site: Site, wanted: str, address: str) -> None:
    with shared_site.client() as client:
        page = html.fromstring(client.get("/docs", params={"q": wanted}).text)
    found = page.xpath("//ol[@class='guide-list']/li")
    assert found[0].xpath("./a/@href") == [address]
    for each in found:
        text = each.text_content().lower()
        assert each.xpath(".//mark") or all(word in text for word in wanted.split())


@pytest.mark.parametrize(
    "wanted",
    ['"', "'; DROP TABLE sections; --", "NEAR(", "a" * 5000, "*", "-", "\x00", "AND OR NOT", "<script>alert(1)"],
)
def test_search_takes_any_text_as_words(shared_site: Site, wanted: str) -> None:
    with shared_site.client() as client:
        answer = client.get("/docs", params={"q": wanted})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert html.fromstring(answer.text).xpath("//input[@id='q']")[0].get("value") in (
        wanted,
        wanted.replace("\x00", "�"),
    )


def test_visitors_share_a_page_that_says_nothing_of_users_or_of_how_it_was_asked_for(shared_site: Site) -> None:
    with shared_site.writing() as session:
        email = make_user(session).email
    with shared_site.client() as visitor, signed_in(shared_site, email) as user:
        assert 'action="/sign-out"' in user.get("/docs/problems").text
        visitor.get("/docs/problems?done=published")
        first = visitor.get("/docs/problems?next=//evil.example")
        again = visitor.get("/docs/problems", headers={"If-None-Match": first.headers["etag"]})
        dark = visitor.get("/docs/problems", headers={"Cookie": "vocboard_theme=dark"})
    assert "set-cookie" not in first.headers
    assert first.headers["content-encoding"] == "gzip"
    assert again.status_code == 304
    assert 'action="/sign-out"' not in first.text
    assert "evil" not in first.text
    assert "is on the leaderboard" not in first.text
    assert 'data-theme="dark"' in dark.text
    assert 'data-theme="dark"' not in first.text
