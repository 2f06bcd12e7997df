"""The quota holds however many uploads arrive at once."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import httpx
import pytest

from tests.support.factories import WEEK, make_challenge, make_token, make_user
from tests.support.life import upload_results
from tests.support.site import Site
from tests.support.uploading import RESULTS, stored
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.settings import Settings

AT_ONCE = 50
QUOTA = 2


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Let nothing but the quota limit uploads."""
    many = {"uploads_per_hour": 10 * AT_ONCE, "concurrent_uploads": AT_ONCE}
    many |= {"concurrent_uploads_per_address": AT_ONCE, "concurrent_uploads_in_all": 10 * AT_ONCE}
    return settings.model_copy(update=many)


@pytest.fixture
def challenge(site: Site) -> Challenge:
    with site.writing() as session:
        return make_challenge(
            session, edition="VOC2007", quota_count=QUOTA, quota_period_seconds=int(WEEK.total_seconds())
        )


@pytest.fixture
def client(site: Site) -> Iterator[httpx.Client]:
    with site.writing() as session:
        token = make_token(session, make_user(session))
    with site.client(token) as opened:
        yield opened


def test_of_fifty_parallel_uploads_the_quota_is_accepted(
    site: Site, client: httpx.Client, challenge: Challenge
) -> None:
    token = client.headers["authorization"].removeprefix("Bearer ")

    def upload(_: int) -> httpx.Response:
        with site.client(token) as own:
            return upload_results(own, challenge.slug, RESULTS)

    began = now()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        responses = list(pool.map(upload, range(AT_ONCE)))
    assert Counter(response.status_code for response in responses) == {201: QUOTA, 429: AT_ONCE - QUOTA}
    for refused in (response for response in responses if response.status_code == 429):
        details = refused.json()
        assert refused.headers["content-type"] == "application/problem+json"
        assert details["code"] == "limited"
        allowed_at = datetime.fromisoformat(details["allowed_at"])
        assert began + WEEK <= allowed_at <= now() + WEEK
        assert timedelta(0) < timedelta(seconds=int(refused.headers["retry-after"])) <= WEEK
    assert client.get("/api/v1/submissions").json()["total"] == QUOTA
    assert len(stored(site)) == 2, "one archive, as all have the same content, and its columns"
    use = client.get(f"/api/v1/challenges/{challenge.slug}").json()["quota_use"]
    assert (use["comp1"]["used"], use["comp3"]["used"]) == (QUOTA, 0)
