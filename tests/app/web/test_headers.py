"""Every response, whatever it is, tells the browser what our pages never do; HEAD is answered wherever GET is."""

import re
from pathlib import Path

import pytest

from tests.support.browsing import send_form
from tests.support.factories import PASSWORD, make_user
from tests.support.site import Site, serving
from vocboard.app.main import STATIC_DIRECTORY
from vocboard.app.pages.rendering import asset
from vocboard.app.settings import Settings
from vocboard.app.web.headers import CONTENT_SECURITY_POLICY

EVERYTHING = [
    "/",
    "/sign-in",
    "/healthz",
    "/nothing/here",
    "/api/docs",
    "/api/v1/openapi.json",
    "/api/v1/challenges",
    "/api/v1/me",
    "/api/v1/submissions/not-an-id",
    "/static/js/api-docs.js",
    "/static/missing.css",
]


@pytest.mark.parametrize("path", EVERYTHING)
def test_every_response_has_the_headers(shared_site: Site, path: str) -> None:
    with shared_site.client() as client:
        headers = client.get(path).headers
    assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert "strict-transport-security" not in headers
    assert "access-control-allow-origin" not in headers


def test_other_sites_read_what_visitors_may_read_if_operators_allow_it(sqlite_url: str, tmp_path: Path) -> None:
    settings = Settings(data_directory=tmp_path, database_url=sqlite_url, cross_origin_reads=True)
    allowed = "access-control-allow-origin"
    with serving(settings) as site, site.client() as client:
        path, origin = "/api/v1/challenges", {"Origin": "https://other.example"}
        assert client.get(path, headers=origin).headers[allowed] == "*"
        assert "Link" in client.get(path).headers["access-control-expose-headers"]
        for credentials in ({"Authorization": "Bearer vocb_x"}, {"Cookie": "vocboard_session=x"}):
            assert allowed not in client.get(path, headers=origin | credentials).headers
        assert allowed not in client.get("/", headers=origin).headers
        assert allowed not in client.post(path, json={}, headers=origin).headers
        assert allowed not in client.options(path, headers=origin | {"Access-Control-Request-Method": "POST"}).headers


def test_our_errors_have_the_headers_and_no_traceback(
    shared_site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError("the secret of the database")

    monkeypatch.setattr(shared_site.database, "reading", fail)
    with shared_site.client() as client:
        for path in ("/", "/api/v1/challenges"):
            response = client.get(path)
            assert response.status_code == 500
            assert response.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
            assert "secret of the database" not in response.text
            assert "Traceback" not in response.text
        client.get("/anonymous/a%0AERROR%20forged")
    assert "the secret of the database" in caplog.text
    assert any(record.getMessage() == "GET /anonymous/… failed" for record in caplog.records)
    ours = [record for record in caplog.records if record.name.startswith("vocboard.")]  # httpx logs what it asks for
    assert not any("forged" in record.getMessage() for record in ours)


def test_the_policy_allows_no_inline_scripts_or_styles() -> None:
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "default-src 'none'" in CONTENT_SECURITY_POLICY


def test_only_versioned_files_are_kept_by_browsers(shared_site: Site) -> None:
    with shared_site.client() as client:
        assert client.get("/").headers["cache-control"] == "no-store"
        assert client.get("/api/v1/challenges").headers["cache-control"] == "no-store"
        assert "immutable" in client.get("/static/js/api-docs.js?v=1").headers["cache-control"]
        assert client.get("/static/js/api-docs.js").headers["cache-control"] == "no-cache"


def test_fonts_are_asked_for_once(shared_site: Site) -> None:
    """Style sheets name the version of each font, the same as the page that preloads it."""
    sheet = (STATIC_DIRECTORY / "css" / "tokens.css").read_text()
    named = re.findall(r'url\("\.\./(vendor/[^"?]+\.woff2)(\?v=\w+)?"\)', sheet)
    assert len(named) == 4
    assert {f"/static/{font}{version}" for font, version in named} == {asset(font) for font, _ in named}
    with shared_site.client() as client:
        assert asset(named[0][0]) in client.get("/").text
        for path in ("/", "/docs", "/docs/api", "/sign-in", "/no-such-page"):
            found = re.findall(r'(?:href|src)="(/static/[^"]+)"', client.get(path).text)
            assert found
            assert [address for address in found if not re.search(r"\?v=\w+$", address)] == []


def test_behind_tls_browsers_stay_there_and_cookies_are_this_hosts_alone(sqlite_url: str, tmp_path: Path) -> None:
    settings = Settings(data_directory=tmp_path / "data", database_url=sqlite_url, public_url="https://board.example")
    with serving(settings) as site, site.client() as client:
        page = client.get("/sign-in")
    assert page.headers["strict-transport-security"].startswith("max-age=31536000")
    visitor = page.headers["set-cookie"]
    assert visitor.startswith("__Host-vocboard_visitor=")
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= set(visitor.split("; "))


def test_a_signed_in_cookie_is_out_of_reach_for_scripts_and_other_sites(shared_site: Site) -> None:
    with shared_site.writing() as session:
        email = make_user(session).email
    with shared_site.client() as client:
        response = send_form(client, "/sign-in", email=email, password=PASSWORD)
    cookie = response.headers["set-cookie"].split("; ")
    assert cookie[0].startswith("vocboard_session=")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie)


def test_only_the_embeddable_leaderboard_may_be_shown_in_a_frame(gallery_site: Site) -> None:
    board = "/challenges/voc2012/leaderboards/comp3"
    with gallery_site.client() as client:
        embedded = client.get(f"{board}/embed")
        others = [client.get(path) for path in (board, f"{board}/compare", "/challenges/voc2012/leaderboards", "/")]
    assert embedded.status_code == 200
    policy = embedded.headers["content-security-policy"]
    assert "frame-ancestors *" in policy
    assert "form-action 'none'" in policy
    assert "script-src" not in policy  # default-src 'none' forbids scripts
    assert "x-frame-options" not in embedded.headers
    assert embedded.headers["x-content-type-options"] == "nosniff"
    assert "<form" not in embedded.text
    assert "<script" not in embedded.text
    for other in others:
        assert other.status_code == 200
        assert other.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in other.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", "/sign-in", "/api/v1/challenges", "/api/docs", "/healthz", "/static/brand.svg"])
def test_head_has_the_headers_of_get_and_no_body(shared_site: Site, path: str) -> None:
    with shared_site.client() as client:
        get, head = client.get(path), client.head(path)
    assert head.status_code == get.status_code == 200
    assert head.content == b""
    for name in ("content-type", "content-security-policy", "content-length"):
        assert head.headers.get(name) == get.headers.get(name)


def test_head_of_what_is_not_there_is_not_found(shared_site: Site) -> None:
    with shared_site.client() as client:
        assert client.head("/challenges/none").status_code == 404
