"""Pages of the documentation that are made out of the code are up to date, and those that name tests name real ones."""

import re
from pathlib import Path

import pytest

from tools import edition_pages, problem_pages, statistics_pictures
from vocboard.evaluator.problem_catalogue import CATALOGUE


def test_the_page_of_problems_is_what_the_catalogue_says() -> None:
    assert problem_pages.PAGE.read_text(encoding="utf-8") == problem_pages.page(), "run python -m tools.problem_pages"


@pytest.mark.parametrize("name", edition_pages.all_pages())
def test_the_page_of_an_edition_is_what_its_file_says(name: str) -> None:
    assert edition_pages.path(name).read_text(encoding="utf-8") == edition_pages.page(name), (
        "run python -m tools.edition_pages"
    )


def test_every_kind_of_problem_has_its_heading() -> None:
    assert set(CATALOGUE) <= set(re.findall(r"(?m)^### (\w+)$", problem_pages.page()))


ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMED_FILE = re.compile(r"\[`?[\w/-]+\.md`?\]\([^)]*\)")  # the site shows pages, not files
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Return the addresses of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_images_of_a_page_are_there(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        if re.match(r"https?:|mailto:|/", path):
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), target


@pytest.mark.parametrize("name", statistics_pictures.PICTURES)
def test_the_pictures_of_the_statistics_are_what_the_program_draws(name: str) -> None:
    assert statistics_pictures.path(name).read_text() == statistics_pictures.PICTURES[name]()


def test_links_of_guides_have_the_titles_of_pages() -> None:
    named = {page.name: NAMED_FILE.findall(page.read_text(encoding="utf-8")) for page in PAGES if page.parent != ROOT}
    assert {name: links for name, links in named.items() if links} == {}


def test_every_image_of_the_documentation_is_shown() -> None:
    shown = {
        (page.parent / target).resolve() for page in PAGES for target in LINK.findall(page.read_text(encoding="utf-8"))
    }
    assert {path for path in (ROOT / "docs" / "images").rglob("*") if path.is_file()} <= shown


TESTS = Path(__file__).parent
THREAT_MODEL = TESTS.parent / "docs" / "threat-model.md"


def test_the_threat_model_names_a_test_for_every_claim() -> None:
    text = THREAT_MODEL.read_text(encoding="utf-8")
    claims = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| cannot")]
    assert claims
    for claim in claims:
        named = re.findall(r"`([\w/]+\.py)`", claim.rpartition(" | ")[2])
        assert named, claim
        for path in named:
            assert (TESTS / path).is_file(), claim
