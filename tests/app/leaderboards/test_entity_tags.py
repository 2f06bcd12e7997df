"""Entity tags, lengths and dates of answers say no more than the answers do."""

import pytest
from sqlalchemy import select, update

from tests.support.site import Site
from vocboard.app.challenges.models import Challenge, ChallengePhase, Detail
from vocboard.app.evaluations.models import ClassScore, Measure

SLUG = "voc2012"
VIEWS = [
    f"/challenges/{SLUG}/leaderboards/comp3",
    f"/challenges/{SLUG}/leaderboards/comp3/embed",
    f"/challenges/{SLUG}/leaderboards/comp3/preview.png",
    *(f"/api/v1/challenges/{SLUG}/leaderboards/comp3{ending}" for ending in ("", ".csv", ".tex")),
]
OF_EACH_ANSWER = {"date", "x-request-id"}  # whatever it says


@pytest.mark.parametrize("hidden", ["class scores", "digits"])
def test_what_is_hidden_changes_no_header(gallery_site: Site, hidden: str) -> None:
    """A tag of exact scores would tell, score by score, whether a guess of them is right."""
    with gallery_site.writing() as session:
        session.execute(update(Challenge).where(Challenge.slug == SLUG).values(decimals=2))
        session.execute(update(ChallengePhase).values(detail=Detail.MEAN))
        if hidden == "digits":
            for measure in session.scalars(select(Measure)):
                measure.mean = None if measure.mean is None else round(measure.mean, 2)
    before = _headers(gallery_site)
    with gallery_site.writing() as session:
        if hidden == "class scores":
            session.execute(update(ClassScore).values(value=ClassScore.value * 0.5))
        else:
            for measure in session.scalars(select(Measure).where(Measure.mean.is_not(None))):
                measure.mean = (measure.mean or 0) + 0.001
    assert _headers(gallery_site) == before


def _headers(site: Site) -> list[dict[str, str]]:
    with site.client() as client:
        answers = [client.get(view) for view in VIEWS]
        for answer in answers:
            assert answer.status_code == 200
            assert "last-modified" not in answer.headers
            again = client.get(str(answer.url), headers={"If-None-Match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        return [
            {name: value for name, value in answer.headers.items() if name not in OF_EACH_ANSWER} for answer in answers
        ]
