"""The token that a page's forms carry."""

import re

import httpx

_TOKEN = re.compile(r'name="csrf_token" value="([0-9a-f]{64})"')


def token_of(page: httpx.Response) -> str:
    """Return the token that the forms of a page carry."""
    found = _TOKEN.search(page.text)
    assert found, f"no form on {page.url}: {page.status_code} {page.text[:500]}"
    return found[1]
