"""A method as everyone may cite it: its published versions and their results."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import LinkedIdentity, User
from vocboard.app.accounts.openid import orcid_of
from vocboard.app.challenges.editions import edition_of
from vocboard.app.database import now
from vocboard.app.errors import NotFoundError
from vocboard.app.evaluations.origin import ImportedScores
from vocboard.app.evaluations.results import visible_evaluation
from vocboard.app.leaderboards.citations import bibtex
from vocboard.app.submissions import queries as of_methods
from vocboard.app.submissions.models import Method, Submission, SubmissionPerson
from vocboard.app.teams.queries import is_member
from vocboard.evaluator.editions import Competition


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """A published result of a method, as everyone may see it.

    Attributes:
        mean: of the primary metric; a fraction, None if undefined.
        mean_over: how many classes the mean is over.
        imported: None if it was computed on this server.
    """

    competition: Competition
    submission: Submission
    metric: str
    mean: float | None
    mean_over: int
    is_complete: bool
    imported: ImportedScores | None = None


@dataclass(frozen=True, slots=True)
class CitedMethod:
    """A method, and what of it may be shown.

    Attributes:
        published: versions that are published in any competition, the latest first.
        results: by competition, in the edition's order; of a competition in several phases the latest first.
        versions: all of its submissions, the latest first, for its owner; empty for others.
        team: its name; empty for a person alone.
        contributors, affiliation, description: of the latest published version, or of the latest one for its owner.
        orcids: names of people whom the shown version counts for and who show their ORCID iD, and its address.
        bibtex: None if nothing is published.
    """

    method: Method
    published: tuple[Submission, ...]
    results: tuple[PublishedResult, ...]
    versions: tuple[Submission, ...]
    is_own: bool
    team: str
    contributors: str
    affiliation: str
    description: str
    orcids: tuple[tuple[str, str], ...]
    bibtex: str | None


def cited_method(session: Session, method_id: uuid.UUID, viewer: User | None, *, site: str) -> CitedMethod:
    """Return a method for its page.

    It shows what its published submissions show to everyone. Only its owner sees it while no result is published, while
    the leaderboards are hidden or anonymous, and once all of its results are unpublished, withdrawn or disqualified.

    Args:
        site: its address.

    Raises:
        NotFoundError: there is no such method, or nothing of it that the viewer may see.
    """
    method = of_methods.method_by_id(session, method_id)
    is_own = is_member(session, method.team_id, viewer)
    published = of_methods.versions_of(session, method, owner=None)
    versions = of_methods.versions_of(session, method, owner=viewer) if is_own else ()
    if not published and not versions:
        raise NotFoundError("This method does not exist, or none of its results is published.")
    shown = (published or versions)[0]
    return CitedMethod(
        method=method,
        published=tuple(published),
        results=tuple(_results(session, published)),
        versions=tuple(versions),
        is_own=is_own,
        team=shown.team.name,
        contributors=shown.contributors,
        affiliation=shown.affiliation,
        description=shown.description,
        orcids=tuple(_orcids(session, shown)) if published else (),
        bibtex=bibtex(
            method_id=method.id,
            method=method.name,
            contributors=shown.contributors,
            challenge=shown.challenge.title,
            year=(shown.published_at or now()).year,
            address=address(site, method.id),
        )
        if published
        else None,
    )


def _orcids(session: Session, submission: Submission) -> Iterator[tuple[str, str]]:
    """Yield the names and ORCID iDs of the people whom a submission counts for, if they show them."""
    shown = (
        select(User.name, LinkedIdentity.issuer, LinkedIdentity.subject)
        .join(LinkedIdentity, LinkedIdentity.user_id == User.id)
        .join(SubmissionPerson, SubmissionPerson.user_id == User.id)
        .where(SubmissionPerson.submission_id == submission.id, LinkedIdentity.is_shown, User.disabled_at.is_(None))
    )
    for name, issuer, subject in session.execute(shown.order_by(User.name, LinkedIdentity.subject)):
        found = orcid_of(issuer, subject)
        if found is not None:
            yield name, found


def address(site: str, method_id: uuid.UUID) -> str:
    """Return the permanent address of a method's page."""
    return f"{site}/methods/{method_id}"


def _results(session: Session, published: Sequence[Submission]) -> list[PublishedResult]:
    found = []
    for submission in published:
        competitions = of_methods.edition_of_submission(submission).competitions
        evaluation = visible_evaluation(session, submission, of_methods.Access())
        for result in evaluation.results if evaluation else ():
            measure = result.measures[0]
            found.append(
                PublishedResult(
                    competition=competitions[result.competition],
                    submission=submission,
                    metric=measure.metric,
                    mean=measure.mean,
                    mean_over=measure.mean_over,
                    is_complete=not result.not_entered,
                    imported=evaluation.imported if evaluation else None,
                )
            )
    order = list(edition_of(published[0].challenge).competitions) if published else []
    return sorted(found, key=lambda one: order.index(one.competition.key))
