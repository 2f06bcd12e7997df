"""Renders Markdown of organisers as HTML: text, lists, tables, code, and links to other sites.

No sanitiser runs on the result: the renderer makes every tag itself and escapes the text, raw HTML and pictures are
off, and each address is checked here. `tests/app/pages/test_untrusted_markdown.py` reads the HTML again.
"""

from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup

from vocboard.app.accounts.people import normalised_email
from vocboard.app.forms import is_address
from vocboard.app.pages.markdown import make_scrollable

HIGHEST_HEADING = 3  # pages have headings of the levels 1 and 2
LOWEST_HEADING = 6
REL = "nofollow ugc noopener"
CACHED_TEXTS = 128
_MAILTO = "mailto:"


class _Parser(MarkdownIt):
    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False, "breaks": True})  # as in plain text, a line break is one
        self.enable("table").disable("image")

    def validateLink(self, url: str) -> bool:  # noqa: N802  # the library's name
        """Whether an address in its final form is an http(s) or mailto address; text with another one stays text."""
        if url.lower().startswith(_MAILTO):
            return normalised_email(url[len(_MAILTO) :]) is not None
        return is_address(url)


@lru_cache(CACHED_TEXTS)
def rendered(text: str) -> Markup:
    """Return Markdown as HTML. Its highest headings become those of level 3, wide tables scroll.

    >>> rendered("# Data [here](https://lab.example)")
    Markup('<h3>Data <a href="https://lab.example" rel="nofollow ugc noopener">here</a></h3>\\n')
    >>> rendered("<script>[x](javascript:1)")
    Markup('<p>&lt;script&gt;[x](javascript:1)</p>\\n')
    """
    parser = _Parser()
    tokens = parser.parse(text)
    headings = [token for token in tokens if token.type in {"heading_open", "heading_close"}]
    shift = HIGHEST_HEADING - min((int(token.tag[1]) for token in headings), default=0)
    for token in headings:
        token.tag = f"h{min(int(token.tag[1]) + shift, LOWEST_HEADING)}"
    for token in tokens:
        for child in token.children or []:
            if child.type == "link_open":
                child.attrSet("rel", REL)
    # The renderer escapes what is in the tokens.
    return Markup(parser.renderer.render(make_scrollable(tokens), parser.options, {}))  # noqa: S704
