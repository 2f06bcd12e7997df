"""Short names of challenges that would collide with pages."""

import re
from pathlib import Path

import pytest
from fastapi.routing import iter_route_contexts

from vocboard.app.challenges.slugs import RESERVED_SLUGS, SLUG, check_slug
from vocboard.app.forms import FieldChecks
from vocboard.app.main import create_app
from vocboard.app.settings import Settings

UNDER = re.compile(r"/(?:api/v1/)?(?:organise|challenges)/([^/{}]+)")  # where a challenge's short name can be


def test_every_fixed_word_in_the_place_of_a_challenge_is_reserved(tmp_path: Path) -> None:
    routes = iter_route_contexts(create_app(Settings(data_directory=tmp_path)).routes)
    paths = {str(route.path) for route in routes}
    assert "/organise/{slug}" in paths
    words = {found[1] for path in paths if (found := UNDER.match(path))}
    assert {word for word in words if SLUG.fullmatch(word)} <= RESERVED_SLUGS
    assert "new" in words


@pytest.mark.parametrize("word", sorted(RESERVED_SLUGS))
def test_a_reserved_name_is_refused(word: str) -> None:
    checks = FieldChecks()
    check_slug(checks, word)
    assert checks.messages == {"slug": "This name is reserved. Choose another one."}
