"""Submissions that have learnt nothing climb a plain leaderboard, and not one with the Ladder mechanism.

The attacks are those of `benchmarks.overfitting`: random confidences, of which what scores better is kept.
"""

import pytest

from benchmarks.overfitting import ATTACKS, Confidences, Images, attack, greedy
from tests.support.factories import make_challenge, make_user
from tests.support.phases import complete, show_board
from tests.support.scored import make_published
from vocboard.app.database import Database
from vocboard.app.evaluations.results import visible_evaluation
from vocboard.app.submissions.queries import Access

FOOLED, NOT_FOOLED = 0.08, 0.04  # a reported score is at least, or at most, so far above the true one
STEP = 0.02


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_ladder_resists_what_fools_a_plain_leaderboard(name: str, seed: int) -> None:
    plain = attack(name, seed, None, 300)
    assert plain.reported - plain.true > FOOLED
    ladder = attack(name, seed, STEP, 300)
    assert ladder.reported - ladder.true < NOT_FOOLED
    assert abs(ladder.true - plain.true) < NOT_FOOLED  # neither has learnt anything


@pytest.mark.parametrize("step", [None, 0.03])
def test_what_the_server_shows_resists_it_too(sqlite_url: str, step: float | None) -> None:
    """Of 100 submissions by one person, each of another method, and the leaderboard that they are published on."""
    database = Database(sqlite_url)
    images = Images(4, images=1000)
    with database.writing() as session:
        person = make_user(session)
        challenge = make_challenge(session, competitions=["comp1"], ladder_step=step)
    numbers = iter(range(1000))

    def report(submitted: Confidences) -> float | None:
        with database.writing() as session:
            found = complete(session, challenge.id)
            name = f"Method {next(numbers)}"
            submission = make_published(session, found, person, name, images.score(submitted))
            submission.challenge = found
            shown = visible_evaluation(session, submission, Access(is_own=True))
            assert shown is not None
            return shown.results[0].measures[0].mean

    last = greedy(images, report, 100)
    with database.writing() as session:
        best = show_board(session, challenge, "comp1").rows[0].mean.value
    database.close()
    assert best is not None
    gained = best - images.true_score(last)
    assert gained > FOOLED if step is None else gained < NOT_FOOLED
