"""Ranks, marks and orders tell nothing that the rounded scores beside them do not.

Otherwise anybody's published list is a reference for an exact comparison, which identifies results one by one.
"""

import re

from sqlalchemy import select, update

from tests.app.conftest import embedded_site
from tests.app.test_ladder import BOARD, Reader, World
from tests.support.factories import make_token
from tests.support.site import Site
from vocboard.app.challenges.models import Challenge
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, Evaluation, Measure
from vocboard.app.participating import publishing

__all__ = ["embedded_site"]

KEY = re.compile(r"idempotency_key=[0-9a-f-]+")  # of a form: a new one each time

# With two decimals they look the same; unrounded, each order is another.
LOOK_ALIKE = (
    {"First": 0.512, "Private": 0.5149, "Worse": 0.3349, "Better": 0.5561, "Bobs": 0.5602, "Third": 0.5149},
    {"First": 0.5149, "Private": 0.5051, "Worse": 0.3251, "Better": 0.5649, "Bobs": 0.5551, "Third": 0.505},
)


def test_no_view_depends_on_more_than_the_rounded_scores(embedded_site: Site) -> None:
    """Leaderboards in every format and order, pictures, progress, comparisons, ranks before publishing, the API."""
    with embedded_site.writing() as session:
        world = World(session, ladder_step=None, decimals=2, statistics=False)
        world.submit(session, world.bob, "Third", 0.51)
        link = publishing.create_anonymous_link(session, submission_id=world.ids["Worse"], user=world.ada)
        token = make_token(session, world.ada)
    readers = [
        Reader(embedded_site, world, link),
        Reader(embedded_site, world, link, token=token),
        Reader(embedded_site, world, link, email=world.ada.email),
        Reader(embedded_site, world, link, email=world.organiser.email),
    ]
    views = []
    for scores in LOOK_ALIKE:
        with embedded_site.writing() as session:
            for name, score in scores.items():
                results = (
                    select(CompetitionResult.id).join(Evaluation).where(Evaluation.submission_id == world.ids[name])
                )
                measures = select(Measure.id).where(Measure.result_id.in_(results)).scalar_subquery()
                session.execute(update(Measure).where(Measure.id.in_(measures)).values(mean=score))
                session.execute(update(ClassScore).where(ClassScore.measure_id.in_(measures)).values(value=score))
            session.execute(update(Challenge).values(title=Challenge.title))  # so that leaderboards are computed again
        views.append([reader.views() for reader in readers])
    assert all(len(found) >= 15 for found in views[0])
    for before, after in zip(*views, strict=True):
        for path, text in before.items():
            assert KEY.sub("", after.get(path, "")) == KEY.sub("", text), path
    with embedded_site.client() as client:
        rows = client.get(f"/api/v1{BOARD}").json()["rows"]
    shown = [(row["rank"], row["method"], row["mean"], "car" in row["best"]) for row in rows]
    assert shown == [
        (1, "Better", 0.56, True),
        (1, "Bobs", 0.56, True),
        (3, "First", 0.51, False),
        (3, "Third", 0.51, False),
        (5, "Worse", 0.33, False),
    ]
