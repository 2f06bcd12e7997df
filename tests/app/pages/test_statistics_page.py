"""What readers and organisers see of a leaderboard whose statistics cannot be computed."""

from tests.support.browsing import sign_in
from tests.support.entrants import make_scored
from tests.support.factories import make_challenge, make_organiser
from tests.support.phases import show_board
from tests.support.site import Site
from vocboard.app.statistics.boards import Failure, Statistics, decimals_of, digest_of
from vocboard.app.statistics.models import BoardStatistics


def test_only_organisers_of_the_challenge_are_told_why_there_are_no_intervals(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser, other = make_organiser(session), make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, slug="few", statistics=True)
        make_scored(session, challenge, organiser, "Method", 0.5)
        entries = show_board(session, challenge, "comp1").rows.entries
        decimals = decimals_of(challenge.decimals)
        failed = Statistics(decimals, 0, 0, 0, {}, Failure.TOO_FEW_IMAGES)
        digest = digest_of((entry.result_id for entry in entries), decimals)
        assert digest is not None
        session.add(
            BoardStatistics(
                challenge_id=challenge.id,
                competition="comp1",
                methods_sha256=digest,
                version=1,
                content=failed.as_json(),
            )
        )
        readers = {None: False, other.email: False, organiser.email: True}
    board, reasons, why = "/challenges/few/leaderboards/comp1", "/organise/few/statistics", "fewer than two images"
    for reader, is_told in readers.items():
        with embedded_site.client() as client:
            if reader is not None:
                sign_in(client, reader)
            page = client.get(board).text
            assert "they could not be computed" in page
            assert why not in page
            assert (f'href="{reasons}"' in page) == is_told
            assert (why in client.get(reasons, follow_redirects=True).text) == is_told
            statistics = client.get(f"/api/v1{board}").json()["statistics"]
            assert (statistics["is_current"], statistics["is_unavailable"]) == (True, True)
