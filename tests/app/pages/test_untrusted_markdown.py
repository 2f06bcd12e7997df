"""Markdown of organisers becomes harmless HTML: known tags and attributes, and links to other sites alone."""

import time
from urllib.parse import urlsplit

import pytest
from lxml import html

from tests.support import markup_attacks
from vocboard.app.pages.untrusted_markdown import rendered

TAGS = {
    *("a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong", "ul"),
    *("div", "table", "tbody", "td", "th", "thead", "tr"),
}
ATTRIBUTES = {
    "a": {"href", "rel", "title"},
    "code": {"class", "tabindex"},
    "div": {"aria-label", "class", "role", "tabindex"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "table": {"class"},
    "td": {"class"},
    "th": {"class"},
}


def elements(text: str) -> list[html.HtmlElement]:
    """Return the elements of Markdown, as lenient as browsers read them."""
    return list(html.fragment_fromstring(rendered(text), create_parent="main").iterdescendants())


@pytest.mark.parametrize("text", markup_attacks.MARKDOWN)
def test_nothing_but_known_elements_and_links_to_other_sites(text: str) -> None:
    for each in elements(text):
        assert each.tag in TAGS
        assert set(each.attrib) <= ATTRIBUTES.get(each.tag, set())
        if each.tag in {"td", "th"}:
            assert each.get("class") in {None, "left", "center", "right"}
        if each.tag == "a":
            assert each.get("rel") == "nofollow ugc noopener"
            target = urlsplit(each.get("href", ""))
            assert target.scheme in {"http", "https", "mailto"}
            assert bool(target.hostname) == (target.scheme != "mailto")
            assert target.username is None


def test_the_collection_is_large() -> None:
    assert len(set(markup_attacks.MARKDOWN)) == len(markup_attacks.MARKDOWN) > 120


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("[x](https://example.org/a?b=1&c=2)", "https://example.org/a?b=1&c=2"),
        ("<https://example.org>", "https://example.org"),
        ("<ada@lab.example>", "mailto:ada@lab.example"),
        ("[mail](mailto:ada@lab.example)", "mailto:ada@lab.example"),
        ("[x]\n\n[x]: http://example.org/päper", "http://example.org/p%C3%A4per"),
    ],
)
def test_links_to_sites_and_addresses(text: str, address: str) -> None:
    assert [each.get("href") for each in elements(text) if each.tag == "a"] == [address]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("# a\n\n## b\n\n###### c", ["h3", "h4", "h6"]),
        ("## a\n\n### b", ["h3", "h4"]),
        ("a\n\nSetext\n---\n", ["h3"]),
    ],
)
def test_headings_are_below_those_of_the_page(text: str, tags: list[str]) -> None:
    assert [each.tag for each in elements(text) if each.tag.startswith("h")] == tags


def test_wide_tables_and_code_scroll_by_keyboard() -> None:
    found = elements("| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nlong\n```")
    assert [each.get("class") for each in found if each.get("tabindex")] == ["scroll", None]


def test_text_of_earlier_versions_looks_the_same() -> None:
    assert rendered("One <b> & two.\nNext line.\n\nSecond, comp3_det_test 1 * 2.") == (
        "<p>One &lt;b&gt; &amp; two.<br />\nNext line.</p>\n<p>Second, comp3_det_test 1 * 2.</p>\n"
    )


@pytest.mark.parametrize("part", ["[", "![", "*a", "_a ", "`", "<a ", "> ", "- ", "[a](", "|a", "&#1;", "**a _b "])
def test_long_repetitions_do_not_take_long(part: str) -> None:
    began = time.perf_counter()
    rendered((part * 20_000)[:20_000])
    assert time.perf_counter() - began < 5
