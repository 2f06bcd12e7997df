"""Requests that no browser sends: never an error of the server, and never a way to another site."""

from urllib.parse import quote, urlsplit

import pytest
from sqlalchemy import func, select

from tests.browser.gallery import fill
from tests.support.browsing import signed_in
from tests.support.factories import make_challenge, make_user
from tests.support.site import Site
from vocboard.app.challenges.models import Challenge, Visibility

BOARD = "/challenges/voc2012/leaderboards/comp3"
ODD_TEXTS = [
    "%00",
    "%ff",
    "%ED%A0%80",
    "%E2%80%AE",
    "'",
    '"><script>',
    "{{1234*4321}}",
    "a" * 5000,
    "..",
    "%2e%2e%2f",
    "-1",
]
ODD_HEADERS = {
    "Accept": ["", ",", "text/html;q=nan", "*/*;q=1e999", "application/json;q=" + "9" * 4000, "\xff"],
    "Accept-Encoding": ["gzip;q=x", ",,,", "gzip;q=0.0000"],
    "Accept-Language": ["\xff" * 100],
    "Authorization": ["Bearer", "Basic YTpi", "bearer \xff", "Bearer vocb_" + "a" * 5000, "Bearer a b c"],
    "Content-Type": ["multipart/form-data", "multipart/form-data; boundary=", "application/json; charset=nonsense"],
    "Cookie": [
        "vocboard_session=\xff",
        "vocboard_session=; vocboard_session=a",
        "=;=;",
        "vocboard_theme=<b>",
        "a" * 9000,
    ],
    "If-None-Match": ["*", "W/", '"' * 1000, "\xff"],
    "If-Modified-Since": ["yesterday", "Thu, 01 Jan 99999 00:00:00 GMT"],
    "Last-Event-ID": ["-1", "\xff"],
    "Origin": ["null", "//", "http://[", "\xff"],
    "Range": ["bytes=0-", "bytes=" + ",".join(f"{n}-" for n in range(1000)), "bytes=-1", "lines=1-2"],
    "Host": ["", "evil.example", "a" * 3000, "[::1", "x:99999999", "\xff"],
    "X-Forwarded-For": ["", ",", "::1, evil", "\xff"],
    "X-HTTP-Method-Override": ["DELETE"],
}


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    with shared_site.writing() as session:
        fill(session, methods=3)
        make_challenge(session, slug="unseen", title="Zebra", visibility=Visibility.DRAFT)
    return shared_site


@pytest.mark.parametrize(
    "address",
    [
        f"{BOARD}?q={{}}",
        f"{BOARD}?sort={{}}&order={{}}",
        f"/api/v1{BOARD}?format={{}}",
        "/challenges/{}",
        "/api/v1/challenges/{}/image-sets",
        "/challenges/voc2012/leaderboards/{}",
        "/submissions/{}",
        "/api/v1/submissions/{}/events",
        "/anonymous/{}",
        "/confirm?token={}",
        "/reset-password?token={}",
        "/sign-in?next={}",
        "/?done={}",
        "/api/v1/challenges?page={}&per_page={}",
        "/static/{}",
        "/{}",
    ],
)
def test_odd_texts_in_addresses(site: Site, address: str) -> None:
    with site.client() as client:
        for text in ODD_TEXTS:
            answer = client.get(address.replace("{}", text))
            assert answer.status_code < 500, (text, answer.text)
            assert "<script>" not in answer.text.replace("&lt;script&gt;", "").partition("</head>")[2], text
            assert "5332114" not in answer.text, text
            assert_leads_nowhere_else(site, answer.headers.get("location"))


@pytest.mark.parametrize("name", ODD_HEADERS)
@pytest.mark.parametrize("address", [BOARD, f"/api/v1{BOARD}", "/sign-in", "/static/css/vocboard.css", "/api/v1/me"])
def test_odd_headers(site: Site, address: str, name: str) -> None:
    with site.client() as client:
        for value in ODD_HEADERS[name]:
            answer = client.get(address, headers=[(name.encode(), value.encode("latin-1"))])
            assert answer.status_code < 500, (value[:50], answer.text)
            assert "evil" not in answer.text.replace(quote(address), ""), value[:50]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "HEAD", "POST"])
@pytest.mark.parametrize("address", ["/", BOARD, "/sign-in", "/api/v1/challenges", "/healthz", "/static/x", "/nothing"])
def test_odd_methods(site: Site, address: str, method: str) -> None:
    with site.client() as client:
        answer = client.request(method, address)
    assert answer.status_code < 500
    assert answer.status_code == 200 if method == "HEAD" and address not in {"/static/x", "/nothing"} else True


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/",
        "//evil.example/%2e%2e",
        "/\\evil.example/",
        "/challenges/",
        "/%2f%2fevil.example",
        "/;//evil.example/",
        "/sign-in/",
    ],
)
def test_odd_paths_lead_to_no_other_site(site: Site, path: str) -> None:
    with site.client() as client:
        answer = client.get(f"{site.url}{path}")
    assert answer.status_code < 500
    assert_leads_nowhere_else(site, answer.headers.get("location"))


@pytest.mark.parametrize(
    "wanted",
    [
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "https:evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/\r\nLocation: https://evil.example",
        " //evil.example",
        "http:///evil.example",
        "/\u2028//evil.example",
    ],
)
def test_signing_in_leads_to_no_other_site(site: Site, wanted: str) -> None:
    with signed_in(site) as client:
        answer = client.get("/sign-in", params={"next": wanted})
    assert answer.status_code == 303
    assert_leads_nowhere_else(site, answer.headers["location"])


def assert_leads_nowhere_else(site: Site, location: str | None) -> None:
    if location is None:
        return
    parts = urlsplit(location)
    assert parts.scheme in {"", "http"}
    assert parts.netloc in {"", urlsplit(site.url).netloc}
    assert not location.startswith(("//", "/\\"))


def test_a_draft_shows_nowhere(site: Site) -> None:
    """Neither its name, nor that there is one more challenge."""
    with site.writing() as session:
        stranger = make_user(session).email
        is_public = Challenge.visibility == Visibility.PUBLIC
        site_total = session.scalar(select(func.count()).select_from(Challenge).where(is_public))
    with site.client() as visitor, signed_in(site, stranger) as participant:
        for client in (visitor, participant):
            for address in ("/", "/api/v1/challenges", "/submissions", "/sign-in?next=/challenges/unseen"):
                text = client.get(address).text
                assert "Zebra" not in text
            assert client.get("/api/v1/challenges").json()["total"] == site_total
            for known, unknown in (
                ("/challenges/unseen", "/challenges/missing"),
                ("/challenges/unseen/leaderboards/comp1", "/challenges/missing/leaderboards/comp1"),
                ("/challenges/unseen/submit", "/challenges/missing/submit"),
                ("/api/v1/challenges/unseen", "/api/v1/challenges/missing"),
                (
                    "/api/v1/challenges/unseen/leaderboards/comp1.csv",
                    "/api/v1/challenges/missing/leaderboards/comp1.csv",
                ),
            ):
                answers = [client.get(address) for address in (known, unknown)]
                first, second = (answer.text.replace("missing", "unseen") for answer in answers)
                assert answers[0].status_code == answers[1].status_code
                assert _without_secrets(first) == _without_secrets(second), known


def _without_secrets(page: str) -> str:
    """A page without the token of its forms, which differs between visitors' pages."""
    before, mark, rest = page.partition('name="csrf_token" value="')
    return before + rest[64:] if mark else page
