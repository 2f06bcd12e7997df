"""Renders a document of docs/ as HTML: links between documents, headings with addresses, a table of contents.

Raw HTML is not passed on, and links can only have harmless schemes: markdown-it-py escapes the one and refuses the
other. Comments, which mark generated parts, are left out.
"""

import itertools
import os.path
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from vocboard.app.web.guides import address_of, documents

DEEPEST = 3  # level of headings in the table of contents
MAX_HEADINGS = 40  # in a table of contents; a document with more shows only those of the second level
_COMMENT = re.compile(r"^<!--.*?-->\n?", re.M | re.S)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|/|#", re.I)  # addresses that are not relative


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document; `level` is 2 or 3."""

    level: int
    anchor: str
    title: str


@dataclass(frozen=True, slots=True)
class Section:
    """The text between two headings, without markup; `anchor` and `title` are empty before the first."""

    anchor: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document, ready to be shown.

    Attributes:
        title: its first heading, which is not in the body.
        body: HTML.
        contents: headings of its table of contents.
        sections: its texts, to search in.
    """

    name: str
    title: str
    body: Markup
    contents: tuple[Heading, ...]
    sections: tuple[Section, ...]


@cache
def document(name: str) -> Document:
    """Return a document, which is rendered once: files do not change while the server runs.

    Args:
        name: one of `documents()`.
    """
    file = documents()[name]
    return render(file.read_text(encoding="utf-8"), file, name)


def render(text: str, file: Path, name: str) -> Document:
    """Render Markdown.

    Args:
        file: where it is, which relative links start from.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(_COMMENT.sub("", text))
    headings = list(_give_anchors(tokens))
    _link(tokens, file)
    tokens = make_scrollable(tokens)
    title, tokens = _without_title(tokens)
    body = markdown.renderer.render(tokens, markdown.options, {})
    shown = [each for each in headings if each.level == 2] if len(headings) > MAX_HEADINGS else headings
    # The text comes from this installation's own files, and the renderer escapes what is in them.
    return Document(name, title or name, Markup(body), tuple(shown), tuple(_sections(tokens)))  # noqa: S704


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    anchor = title = ""
    texts: list[str] = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            yield Section(anchor, title, " ".join(texts))
            anchor, title, texts = str(token.attrGet("id") or ""), _text(tokens[place + 1]), []
        elif token.type in {"fence", "code_block"}:
            texts.append(token.content)
        elif token.type == "inline" and tokens[place - 1].type != "heading_open":
            texts.append(_text(token))
    yield Section(anchor, title, " ".join(texts))


def _give_anchors(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Give headings the addresses that GitHub gives them, and make each a link to itself."""
    known: dict[str, int] = {}
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open" or opening.tag == "h1":
            continue
        title = _text(inline)
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        known[anchor] = known.get(anchor, -1) + 1
        if known[anchor]:
            anchor += f"-{known[anchor]}"
        opening.attrSet("id", anchor)
        inner = [each for each in inline.children or [] if each.type not in {"link_open", "link_close"}]
        link = Token("link_open", "a", 1, attrs={"href": f"#{anchor}", "class": "anchor"})
        inline.children = [link, *inner, Token("link_close", "a", -1)]
        level = int(opening.tag[1])
        if level <= DEEPEST:
            yield Heading(level, anchor, title)


def _link(tokens: Sequence[Token], file: Path) -> None:
    """Make relative links and pictures those of the site; a link to what the site does not have becomes text."""
    for inline in tokens:
        kept: list[Token] = []
        is_dropped = False
        for token in inline.children or []:
            if token.type == "link_close" and is_dropped:
                is_dropped = False
                continue
            if token.type == "link_open":
                address = _address(str(token.attrGet("href")), file)
                if address is None:
                    is_dropped = True
                    continue
                token.attrSet("href", address)
            elif token.type == "image":
                token.attrSet("src", _address(str(token.attrGet("src")), file) or "")
                token.attrSet("loading", "lazy")
            kept.append(token)
        if inline.children is not None:
            inline.children = kept


def _address(target: str, file: Path) -> str | None:
    if _ELSEWHERE.match(target):
        return target
    path, mark, anchor = target.partition("#")
    found = Path(os.path.normpath(file.parent / path))
    address = address_of(found / "README.md" if found.is_dir() else found)
    return None if address is None else f"{address}{mark}{anchor}"


def make_scrollable(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with wide tables in boxes that scroll, and with what scrolls in the order of the keyboard.

    Cells that are aligned have a class that says how.
    """
    found: list[Token] = []
    number = 0
    for place, token in enumerate(tokens):
        if style := str(token.attrs.pop("style", "")):  # of cells; pages may not have styles in attributes
            token.attrSet("class", style.removeprefix("text-align:"))
        if token.type == "th_open" and not tokens[place + 1].content:
            token.tag = tokens[place + 2].tag = "td"  # no heading
        if token.type in {"fence", "code_block"}:
            token.attrSet("tabindex", "0")
        if token.type == "table_open":
            number += 1
            token.attrSet("class", "list")
            box = {"class": "scroll", "tabindex": "0", "role": "group", "aria-label": f"Table {number}"}
            found.append(Token("scroll_open", "div", 1, attrs=dict(box), block=True))
        found.append(token)
        if token.type == "table_close":
            found.append(Token("scroll_close", "div", -1, block=True))
    return found


def _without_title(tokens: list[Token]) -> tuple[str, list[Token]]:
    if len(tokens) > 2 and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return _text(tokens[1]), tokens[3:]
    return "", tokens


def _text(inline: Token) -> str:
    parts = (" " if each.type == "softbreak" else each.content for each in inline.children or [])
    return "".join(parts)
