"""Pages of other servers, in HTML or in Markdown with HTML, as the Markdown that descriptions of challenges have."""

import re

from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from markdownify import MarkdownConverter

from vocboard.app.forms import cleaned, is_address

DROPPED = ("head", "script", "style", "title", "template", "iframe", "object", "svg", "form")
PICTURES = ("img", "picture", "video", "audio")
_TAG = re.compile(r"</?[a-zA-Z][^>\n]*>|<!--|!\[")  # HTML, or a picture
_BLANK_LINES = re.compile(r"\n{3,}")


def as_markdown(text: str, *, is_html: bool) -> tuple[str, int]:
    """Return a text without HTML, with links to other sites only, and how many pictures it had.

    Raises:
        ValueError: it is nested too deeply.

    >>> as_markdown("<h2>Data</h2><p>See <a href='/x'>here</a>.<script>1</script><img src='a.png'>", is_html=True)
    ('## Data\\n\\nSee here.', 1)
    >>> as_markdown("a *b* <b>c</b>\\n\\n![d](e.png)", is_html=False)
    ('a *b* **c**', 1)
    """
    pictures = 0
    if is_html or _TAG.search(text):
        try:
            html = text if is_html else MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
            soup = BeautifulSoup(html, "lxml")
            pictures = len(soup(PICTURES))
            for tag in soup(DROPPED + PICTURES):
                tag.decompose()
            for link in soup("a"):
                if not is_address(str(link.get("href"))) and not str(link.get("href")).startswith("mailto:"):
                    link.unwrap()
            converter = MarkdownConverter(heading_style="ATX", bullets="-", table_infer_header=True)
            text = converter.convert_soup(soup)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
    lines = (cleaned(line.expandtabs(4)).rstrip() for line in text.splitlines())
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip(), pictures


def page(title: str, content: str) -> str:
    """Return a page as a part of a description, below its title, unless it begins with it.

    >>> page("Data", "# Data\\nImages"), page("Data", "Images")
    ('# Data\\nImages', '# Data\\n\\nImages')
    """
    first = content.partition("\n")[0].strip("# *:")
    return content if first.lower() == title.lower() else f"# {title}\n\n{content}"
