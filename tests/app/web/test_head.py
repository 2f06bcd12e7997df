"""HEAD is answered wherever GET is."""

import pytest

from tests.support.site import Site


@pytest.mark.parametrize("path", ["/", "/sign-in", "/api/v1/challenges", "/api/docs", "/healthz", "/static/brand.svg"])
def test_head_has_the_headers_of_get_and_no_body(embedded_site: Site, path: str) -> None:
    with embedded_site.client() as client:
        get, head = client.get(path), client.head(path)
    assert head.status_code == get.status_code == 200
    assert head.content == b""
    for name in ("content-type", "content-security-policy", "content-length"):
        assert head.headers.get(name) == get.headers.get(name)


def test_head_of_what_is_not_there_is_not_found(embedded_site: Site) -> None:
    with embedded_site.client() as client:
        assert client.head("/challenges/none").status_code == 404
