"""What readers and organisers see of a leaderboard whose statistics cannot be computed."""

from typing import Any

from sqlalchemy.orm import Session

from tests.support.browsing import sign_in
from tests.support.entrants import make_scored
from tests.support.factories import make_challenge, make_organiser
from tests.support.phases import show_board
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.statistics.boards import Failure, Statistics, decimals_of, digest_of
from vocboard.app.statistics.models import BoardStatistics

BOARD, REASONS = "/challenges/few/leaderboards/comp1", "/organise/few/statistics"
NONE = Statistics(3, 0, 0, 0, {})


def make_board(session: Session, organiser: User, content: dict[str, Any]) -> None:
    """Make a leaderboard with one method, and what workers have stored of its statistics."""
    challenge = make_challenge(session, organiser=organiser, slug="few", statistics=True)
    make_scored(session, challenge, organiser, "Method", 0.5)
    entries = show_board(session, challenge, "comp1").rows.entries
    digest = digest_of((entry.result_id for entry in entries), decimals_of(challenge.decimals))
    assert digest is not None
    stored = {"challenge_id": challenge.id, "competition": "comp1", "methods_sha256": digest, "version": 1}
    session.add(BoardStatistics(**stored, content=content))


def test_only_organisers_of_the_challenge_are_told_why_there_are_no_intervals(embedded_site: Site) -> None:
    why = "fewer than two images"
    with embedded_site.writing() as session:
        organiser, other = make_organiser(session), make_organiser(session)
        make_board(session, organiser, {**NONE.as_json(), "failure": Failure.TOO_FEW_IMAGES})
        readers = {None: False, other.email: False, organiser.email: True}
    for reader, is_told in readers.items():
        with embedded_site.client() as client:
            if reader is not None:
                sign_in(client, reader)
            page = client.get(BOARD).text
            assert "they could not be computed" in page
            assert why not in page
            assert (f'href="{REASONS}">Why' in page) == is_told
            assert (why in client.get(REASONS, follow_redirects=True).text) == is_told
            statistics = client.get(f"/api/v1{BOARD}").json()["statistics"]
            assert (statistics["is_current"], statistics["is_unavailable"]) == (True, True)


def test_a_leaderboard_without_statistics_of_an_earlier_version_shows_none(embedded_site: Site) -> None:
    content = NONE.as_json()
    del content["failure"]
    with embedded_site.writing() as session:
        make_board(session, make_organiser(session), content)
    with embedded_site.client() as client:
        assert "replicates" not in client.get(BOARD).text
        assert client.get(f"/api/v1{BOARD}").json()["statistics"] is None
