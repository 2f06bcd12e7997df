"""Every page is in order, and axe-core finds nothing serious on it, for anybody, in light and dark."""

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import pytest
from _pytest.mark import ParameterSet
from fastapi import FastAPI
from lxml import html
from playwright.sync_api import Page
from starlette.routing import Route, compile_path

from tests.app.authorisation_table import TABLE, Person
from tests.browser.axe import check, check_prepared, prepare
from tests.browser.conftest import Exhibition, KeptPages, without_errors
from tests.browser.gallery import Gallery
from tests.browser.layout import check_layout
from tests.browser.visits import EMBEDDED, OTHER_STATES, PREVIEWS, REFUSED_FORMS, VISITS, Visit, open_page
from tests.support.factories import make_organiser, make_user
from tests.support.services import make_tables
from tests.support.site import serving
from vocboard.app.accounts.models import Role
from vocboard.app.settings import Settings

pytestmark = pytest.mark.browser

# Routes that answer with something other than a page; all others are visited.
NO_PAGES = {
    "/healthz",
    "/readyz",
    "/metrics",
    "/.well-known/security.txt",
    "/challenges/{slug}/leaderboards/{competition}/preview.png",
    "/challenges/{slug}/feed.atom",
    "/challenges/{slug}/CITATION.cff",
    "/challenges/{slug}/citation.bib",
    "/challenges/{slug}/croissant.json",
    "/methods/{method_id}/eval-results.yaml",
    "/organise/log.csv",
    "/organise/{slug}/log.csv",
    "/organise/{slug}/admission/acceptances.csv",
    "/organise/{slug}/samples",
    "/submissions/{submission_id}/archive",
    "/submissions/{submission_id}/flickr-images",
}
# Large pages that show everybody the same below the header: looked at as one person alone.
THE_SAME_FOR_EVERYBODY = ("/challenges/voc2012/leaderboards/comp3", "/api/docs", "/anonymous/")
CHECKED = {*VISITS, *OTHER_STATES, *REFUSED_FORMS}
PEOPLE: Mapping[str, Person] = {
    "visitor": Person.VISITOR,
    "participant": Person.OWNER,
    "organiser": Person.ORGANISER,
    "administrator": Person.ADMINISTRATOR,
}


# For each part of a page, such as header, main and footer, its kinds of elements: with what is above them, classes and
# names of attributes, without texts.
STRUCTURE = """() => {
  const kinds = (element, above) => {
    const attributes = [...element.attributes].map(({ name, value }) => (
      ["class", "role", "type"].includes(name) ? `${name}=${value}` : name
    ));
    const kind = `${above} ${element.tagName}[${attributes.sort()}]`;
    return [kind, ...[...element.children].flatMap((child) => kinds(child, kind))];
  };
  return [...document.body.children].map((part) => [...new Set(kinds(part, document.body.className))]);
}"""


def pages_of(application: FastAPI) -> list[str]:
    """Return the routes of all pages, in the order in which they are matched."""
    routes = (route for route in application.routes if isinstance(route, Route))
    paths = (route.path for route in routes if "GET" in (route.methods or ()))
    return [path for path in paths if not path.startswith("/api/v1/") and path not in NO_PAGES]


def route_of(path: str, routes: list[str]) -> str:
    """Return the route of the address of a page; empty if none matches."""
    return next((route for route in routes if compile_path(route)[0].match(path.partition("?")[0])), "")


def seen_by_others() -> list[Visit]:
    """Return each page as everybody who may open it, except for the visits that are checked."""
    routes = [route.removeprefix("GET ") for route in TABLE if route.startswith("GET ")]
    routes.sort(key=lambda path: path.count("{"))  # `/organise/new` is not a challenge
    seen = set()
    for visit in [*VISITS, *OTHER_STATES]:
        rules = TABLE.get(f"GET {route_of(visit.path, routes)}", ())
        allowed = {name for name, person in PEOPLE.items() if any(person in rule.allowed for rule in rules)}
        others = set() if visit.path.startswith(THE_SAME_FOR_EVERYBODY) else allowed - {"administrator"}
        seen |= {replace(visit, who=who) for who in others}
    return sorted(seen.difference(CHECKED), key=str)


@dataclass
class Accessible:
    """The kinds of elements of a route's pages in which axe-core found nothing.

    Attributes:
        contrasts: kinds of texts whose contrast need not be looked at again, shared by all routes; see `axe.check`.
    """

    contrasts: set[int]
    shown: set[str] = field(default_factory=set)  # in the browser, where scripts may have added some
    served: set[str] = field(default_factory=set)

    def look(self, page: Page) -> None:
        """Let axe-core look at a page, except for parts in which all kinds are known, and note its kinds."""
        prepare(page)
        parts = page.evaluate(STRUCTURE)
        known = [f"body > :nth-child({place})" for place, kinds in enumerate(parts, 1) if self.shown.issuperset(kinds)]
        if len(known) < len(parts):
            check_prepared(page, *known, known=self.contrasts)
            self.shown.update(*parts)


def in_tiers(visits: Iterable[Visit]) -> list[ParameterSet]:
    """Return the parameters of a test, of which those to pages in other states are for `make test-long`."""
    others = {visit.path for visit in OTHER_STATES}
    return [
        pytest.param(visit, id=str(visit), marks=[pytest.mark.long] if visit.path in others else []) for visit in visits
    ]


def test_every_page_is_visited(exhibition: Exhibition) -> None:
    pages = pages_of(exhibition.site.application)
    visited = {route_of(visit.path, pages) for visit in [*VISITS, *EMBEDDED]}
    assert set(pages) - visited == set(), "add a visit to tests/browser/visits.py"


@pytest.mark.parametrize("visit", in_tiers([*VISITS, *OTHER_STATES, *REFUSED_FORMS, *PREVIEWS, *EMBEDDED]))
def test_page_is_in_order_and_accessible(
    visit: Visit,
    exhibition: Exhibition,
    page_of: Callable[[str], Page],
    accessible: Mapping[str, Accessible],
) -> None:
    found = accessible[route_of(visit.path, pages_of(exhibition.site.application))]
    page = page_of(visit.who)
    with without_errors(page.context):
        content = open_page(page, exhibition, visit)
        if visit in CHECKED:
            check_layout(page, visit)
        found.look(page)
    if not visit.press:
        found.served |= kinds_in(content)


@pytest.mark.long  # test_page_is_in_order_and_accessible opens each page as one person
@pytest.mark.parametrize("visit", seen_by_others(), ids=str)
def test_page_is_accessible_to_others(
    visit: Visit,
    exhibition: Exhibition,
    page_of: Callable[[str], Page],
    accessible: Mapping[str, Accessible],
) -> None:
    """If the server sends a kind of element that it has not sent to those for whom the route was checked."""
    found = accessible[route_of(visit.path, pages_of(exhibition.site.application))]
    kinds = served(exhibition, visit)
    if not found.served.issuperset(kinds):
        page = page_of(visit.who)
        with without_errors(page.context):
            open_page(page, exhibition, visit)
            found.look(page)
        found.served |= kinds


def served(exhibition: Exhibition, visit: Visit) -> set[str]:
    """Return the kinds of elements of a page as the server sends it."""
    cookies = {} if visit.who == "visitor" else {each["name"]: each["value"] for each in exhibition.cookies(visit.who)}
    with exhibition.site.client() as client:
        client.cookies.update(cookies)
        return kinds_in(client.get(exhibition.gallery.address(visit.path), follow_redirects=True).text)


def kinds_in(page: str) -> set[str]:
    """Return the kinds of elements of a page's source, as `STRUCTURE` names them."""

    def kinds(element: html.HtmlElement, above: str) -> Iterator[str]:
        attributes = (
            f"{name}={value}" if name in {"class", "role", "type"} else name for name, value in element.items()
        )
        kind = f"{above} {element.tag}[{','.join(sorted(attributes))}]"
        yield kind
        for child in element.iterchildren("*"):
            yield from kinds(child, kind)

    return set(kinds(html.fromstring(page).find("body"), ""))


@pytest.fixture(scope="module")
def page_of(kept_pages: KeptPages) -> Callable[[str], Page]:
    """Give what returns somebody's page: visits store nothing, so that only the mouse and the theme are reset."""
    emptied = functools.cache(kept_pages)

    def reset(who: str) -> Page:
        page = emptied(who)
        page.mouse.move(-1, -1)  # over nothing
        page.emulate_media(color_scheme="null", reduced_motion="null")
        return page

    return reset


@pytest.fixture(scope="module")
def accessible() -> Mapping[str, Accessible]:
    """Give what was found accessible, by route, to which each visit adds."""
    contrasts = set[int]()
    return defaultdict(lambda: Accessible(contrasts))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_faint_text_is_found(page: Page, theme: str) -> None:
    faint = f"@media (prefers-color-scheme: {theme}) {{ p {{ color: #777; background: #888; }} }}"
    page.set_content(f"<html lang=en><title>Faint</title><style>{faint}</style><main><p>Faint</p></main>")
    with pytest.raises(AssertionError, match=f"{theme}: color-contrast"):
        check(page)


def test_faint_text_is_found_after_what_only_looks_like_it(page: Page) -> None:
    """Elements without a contrast of their own do not stand for texts of their colours on other pages."""
    known = set[int]()
    faint = "<style>* { font: 16px serif; color: #777; background: #888; }</style>"
    begins = f"<html lang=en><title>Faint</title>{faint}<main>"
    page.set_content(f"{begins}<input type=hidden><input type=checkbox aria-label=It><p hidden>Faint</p>")
    check(page, known=known)
    page.set_content(f"{begins}<p>Faint</p>")
    with pytest.raises(AssertionError, match="light: color-contrast"):
        check(page, known=known)


def test_faint_text_is_found_after_its_like_beside_a_gradient(page: Page) -> None:
    known = set[int]()
    style = "<style>p { font: 16px serif; color: #777; } div { height: 3em; margin-bottom: -3em; }</style>"
    gradient = "<div style='background: linear-gradient(#fff, #eee)'></div>"
    begins = f"<html lang=en><title>Faint</title>{style}<main style='background: #888'>"
    page.set_content(f"{begins}{gradient}<p>Faint</p>")
    check(page, known=known)
    page.set_content(f"{begins}<p>Faint</p>")
    with pytest.raises(AssertionError, match="light: color-contrast"):
        check(page, known=known)


@pytest.mark.usefixtures("browser_errors")
@pytest.mark.parametrize("path", ["/", "/submissions", "/invitations", "/organise", "/organise/registrations"])
def test_page_without_content_is_accessible(page: Page, nothing: Exhibition, path: str) -> None:
    open_page(page, nothing, Visit("organiser", path))
    check(page)


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exhibition]:
    """Give a running site with people and nothing else."""
    settings = Settings(data_directory=tmp_path_factory.mktemp("nothing"))
    make_tables(settings)
    with serving(settings) as site:
        with site.writing() as session:
            gallery = Gallery(
                participant=make_user(session).email,
                organiser=make_organiser(session).email,
                administrator=make_user(session, role=Role.ADMINISTRATOR).email,
            )
        yield Exhibition(site, gallery)
