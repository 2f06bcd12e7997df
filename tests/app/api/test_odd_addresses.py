"""Addresses that no page of ours has."""

import pytest

from tests.support.factories import make_challenge
from tests.support.site import Site
from vocboard.app.challenges.models import Visibility


@pytest.mark.parametrize("competition", ["comp4%00", "comp4%ff", "%F0%9F%98%80", "comp4" * 50])
@pytest.mark.parametrize("path", ["/challenges/{}/leaderboards/{}", "/api/v1/challenges/{}/leaderboards/{}"])
def test_a_competition_that_no_database_can_look_for_is_not_found(site: Site, path: str, competition: str) -> None:
    with site.writing() as session:
        slug = make_challenge(session, visibility=Visibility.PUBLIC).slug
    with site.client() as visitor:
        assert visitor.get(path.format(slug, competition)).status_code == 404
