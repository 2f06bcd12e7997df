"""Leaderboards are as current as the database, and their headers tell nothing that is hidden."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import event, select, update
from sqlalchemy.orm import Session

from tests.support.browsing import sign_in
from tests.support.factories import make_token, make_user
from tests.support.filled_databases import METHODS
from tests.support.site import Site, serving
from vocboard.app.accounts.models import Role
from vocboard.app.challenges.models import Challenge, ChallengePhase, Detail, Visibility
from vocboard.app.database import now
from vocboard.app.evaluations.models import ClassScore, Measure
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Method, Submission

SLUG = "voc2012"
PAGE = f"/challenges/{SLUG}/leaderboards/comp3"
BOARD = f"/api/v1{PAGE}"


@pytest.fixture
def sites(gallery_url: str, broker_url: str, tmp_path: Path) -> Iterator[tuple[Site, Site]]:
    """Two processes' worth of the application on one database."""
    settings = Settings(data_directory=tmp_path / "data", database_url=gallery_url, broker_url=broker_url)
    with serving(settings) as one, serving(settings) as other:
        yield one, other


def first(session: Session) -> Submission:
    found = session.query(Submission).filter(Submission.published_at.is_not(None)).order_by(Submission.created_at)
    return found.filter(Submission.entries.any(competition="comp3")).limit(1).one()


def unpublish(session: Session) -> None:
    first(session).published_at = None


def rename(session: Session) -> None:
    session.execute(update(Method).where(Method.id == first(session).method_id).values(name="Renamed"))


def retitle(session: Session) -> None:
    session.execute(update(Challenge).where(Challenge.slug == SLUG).values(title="Another title"))


def close(session: Session) -> None:
    session.execute(update(ChallengePhase).values(closes_at=now()))


def test_a_change_shows_at_once_in_every_process_and_format(sites: tuple[Site, Site]) -> None:
    """One of those that test_revisions.py has, as boards and their renderings are cached by revision."""
    addresses = (BOARD, f"{BOARD}.csv", f"{BOARD}.tex", PAGE, f"{PAGE}?sort=car")
    with sites[0].client() as one, sites[1].client() as other:
        before = {address: [client.get(address).text for client in (one, other)] for address in addresses}
        with sites[0].writing() as session:
            rename(session)
        for address in addresses:
            after = [client.get(address) for client in (one, other)]
            assert [each.status_code for each in after] == [200, 200]
            assert after[0].text == after[1].text
            assert before[address][0] == before[address][1] != after[0].text


@pytest.mark.parametrize("change", [retitle, close])
def test_what_the_page_says_of_the_challenge_is_as_fresh(
    sites: tuple[Site, Site], change: Callable[[Session], None]
) -> None:
    with sites[0].client() as one, sites[1].client() as other:
        before = [client.get(PAGE).text for client in (one, other)]
        with sites[0].writing() as session:
            change(session)
        after = [client.get(PAGE).text for client in (one, other)]
    assert before[0] == before[1]
    assert after[0] == after[1] != before[0]


def test_what_is_published_again_is_as_it_was(sites: tuple[Site, Site]) -> None:
    with sites[0].client() as client:
        before = client.get(BOARD)
        with sites[0].writing() as session:
            hidden = first(session)
            hidden.published_at = None
            hidden_id = hidden.id
        assert len(client.get(BOARD).json()["rows"]) == METHODS - 1
        with sites[0].writing() as session:
            session.get_one(Submission, hidden_id).published_at = now()
        again = client.get(BOARD)
    assert (again.text, again.headers["etag"]) == (before.text, before.headers["etag"])


def test_a_cached_draft_is_only_shown_to_its_organisers(gallery_site: Site) -> None:
    with gallery_site.writing() as session:
        token = make_token(session, make_user(session, role=Role.ADMINISTRATOR))
        stranger = make_token(session, make_user(session, role=Role.ORGANISER))
    with (
        gallery_site.client() as visitor,
        gallery_site.client(token) as administrator,
        gallery_site.client(stranger) as other,
    ):
        assert visitor.get(BOARD).status_code == 200
        assert administrator.get(BOARD).status_code == 200
        with gallery_site.writing() as session:
            session.execute(update(Challenge).where(Challenge.slug == SLUG).values(visibility=Visibility.DRAFT))
        assert administrator.get(BOARD).status_code == 200
        for _ in range(2):
            assert visitor.get(BOARD).status_code == 404
            assert visitor.get(PAGE).status_code == 404
            assert other.get(BOARD).status_code == 404


def test_pages_of_signed_in_people_are_their_own_and_not_compressed(gallery_site: Site) -> None:
    with gallery_site.writing() as session:
        person = make_user(session)
    with gallery_site.client() as client, gallery_site.client() as visitor:
        plain = visitor.get(PAGE)
        sign_in(client, person.email)
        for _ in range(2):
            own = client.get(PAGE)
            assert "csrf_token" in own.text
            assert "content-encoding" not in own.headers
            assert own.headers["cache-control"] == "no-store"
            assert client.get(BOARD).headers["cache-control"] == "no-store"
            assert visitor.get(PAGE).text == plain.text
    assert "csrf_token" not in plain.text


def test_the_chosen_colours_are_not_other_peoples(gallery_site: Site) -> None:
    with gallery_site.client() as client:
        themes = [
            client.get(PAGE, headers={"Cookie": f"vocboard_theme={name}"}).text for name in ("dark", "light", "x")
        ]
    assert ['data-theme="dark"' in page for page in themes] == [True, False, False]
    assert ['data-theme="light"' in page for page in themes] == [False, True, False]


@pytest.mark.parametrize("path", [BOARD, PAGE])
def test_not_modified_if_the_client_has_it(gallery_site: Site, path: str) -> None:
    with gallery_site.client() as client:
        found = client.get(path)
        tag = found.headers["etag"]
        assert found.headers["cache-control"] == "private, no-cache"
        assert found.headers["content-encoding"] == "gzip"
        for header in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
            same = client.get(path, headers={"If-None-Match": header})
            assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
        assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
        uncompressed = client.get(path, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in uncompressed.headers
        assert uncompressed.text == found.text
        with gallery_site.writing() as session:
            unpublish(session)
        assert client.get(path, headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("path", [BOARD, PAGE])
def test_statements_are_as_many_for_many_methods_and_fewer_when_nothing_changed(gallery_site: Site, path: str) -> None:
    with gallery_site.writing() as session:
        of_one = first(session).method_id
        others = update(Submission).where(Submission.method_id != of_one, Submission.published_at.is_not(None))
        session.execute(others.values(published_at=None))
    one = [_statements(gallery_site, path) for _ in range(2)]
    with gallery_site.writing() as session:
        session.execute(update(Submission).where(Submission.published_at.is_(None)).values(published_at=now()))
    many = [_statements(gallery_site, path) for _ in range(2)]
    assert one == many
    assert one[1] == 1


@pytest.mark.parametrize("path", [f"/challenges/{SLUG}/leaderboards", f"/api/v1/challenges/{SLUG}/overall"])
def test_one_statement_tells_that_no_leaderboard_of_an_overview_has_changed(gallery_site: Site, path: str) -> None:
    about = "FROM challenges JOIN leaderboard_revisions"
    assert _statements(gallery_site, path, about=about) > 2  # it has several
    assert _statements(gallery_site, path, about=about) == 1


def _statements(site: Site, path: str, *, about: str = "") -> int:
    count = 0

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        nonlocal count
        # SQLite has a statement BEGIN.
        count += statement != "BEGIN" and about in " ".join(statement.split())

    event.listen(site.database.engine, "before_cursor_execute", note)
    try:
        with site.client() as client:
            answer: httpx.Response = client.get(path)
    finally:
        event.remove(site.database.engine, "before_cursor_execute", note)
    assert answer.status_code == 200
    return count


VIEWS = [
    f"/challenges/{SLUG}/leaderboards/comp3",
    f"/challenges/{SLUG}/leaderboards/comp3/embed",
    f"/challenges/{SLUG}/leaderboards/comp3/preview.png",
    *(f"/api/v1/challenges/{SLUG}/leaderboards/comp3{ending}" for ending in ("", ".csv", ".tex")),
]
OF_EACH_ANSWER = {"date", "x-request-id"}  # whatever it says


@pytest.mark.parametrize("hidden", ["class scores", "digits"])
def test_what_is_hidden_changes_no_header(gallery_site: Site, hidden: str) -> None:
    """A tag of exact scores would tell, score by score, whether a guess of them is right."""
    with gallery_site.writing() as session:
        session.execute(update(Challenge).where(Challenge.slug == SLUG).values(decimals=2))
        session.execute(update(ChallengePhase).values(detail=Detail.MEAN))
        if hidden == "digits":
            for measure in session.scalars(select(Measure)):
                measure.mean = None if measure.mean is None else round(measure.mean, 2)
    before = _headers(gallery_site)
    with gallery_site.writing() as session:
        if hidden == "class scores":
            session.execute(update(ClassScore).values(value=ClassScore.value * 0.5))
        else:
            for measure in session.scalars(select(Measure).where(Measure.mean.is_not(None))):
                measure.mean = (measure.mean or 0) + 0.001
    assert _headers(gallery_site) == before


def _headers(site: Site) -> list[dict[str, str]]:
    with site.client() as client:
        answers = [client.get(view) for view in VIEWS]
        for answer in answers:
            assert answer.status_code == 200
            assert "last-modified" not in answer.headers
            again = client.get(str(answer.url), headers={"If-None-Match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        return [
            {name: value for name, value in answer.headers.items() if name not in OF_EACH_ANSWER} for answer in answers
        ]
