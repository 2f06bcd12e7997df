"""Everyone's submissions to a challenge, searched, filtered and sorted; for its organisers."""

import re
import uuid
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, String, and_, case, cast, exists, func, or_, select, union
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased, joinedload, selectinload

from vocboard.app.accounts.models import User
from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.models import Challenge
from vocboard.app.errors import InvalidInputError
from vocboard.app.evaluations.models import CompetitionResult, Measure
from vocboard.app.evaluations.results import visible_means
from vocboard.app.organising.recent import LARGE, Recent
from vocboard.app.paging import PER_PAGE, Cursor, Page, paginate_by_time, paginate_ids
from vocboard.app.participating.describing import not_declared
from vocboard.app.submissions.filters import SubmissionKind, is_of, searchable, uploaded_between
from vocboard.app.submissions.forms import needed_by
from vocboard.app.submissions.models import WITH_RESULT, Method, State, Submission, SubmissionEntry
from vocboard.evaluator.editions import Declaration
from vocboard.evaluator.tasks.definitions import METRICS

MAX_SEARCH_LENGTH = 200
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f-]*[0-9A-Fa-f][0-9A-Fa-f-]*")  # what a hash or an id may contain


class Flag(StrEnum):
    """A reason to look at a submission."""

    WARNINGS = "warnings"  # of the validation
    UNDECLARED = "undeclared"  # something that its competitions ask for
    COPIES = "copies"  # of other people


class SubmissionSort(StrEnum):
    """What submissions are sorted by."""

    UPLOADED = "uploaded"
    METHOD = "method"
    PERSON = "person"
    STATE = "state"
    MEAN = "mean"
    WARNINGS = "warnings"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which submissions to show, and in what order; None and empty for all.

    Attributes:
        q: part of a method's or person's name, an email address, contributors, affiliation, or of a hash or an id.
        since, until: of the upload; `until` itself is left out.
        descending: None for the order that suits what is sorted by: the latest and the best first, names from A.
    """

    q: str = ""
    kind: SubmissionKind | None = None
    competition: str = ""
    phase: str = ""
    person: uuid.UUID | None = None
    flag: Flag | None = None
    sort: SubmissionSort = SubmissionSort.UPLOADED
    descending: bool | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_any(self) -> bool:
        """Whether they leave anything out."""
        chosen = (self.q, self.kind, self.competition, self.phase, self.person, self.flag, self.since, self.until)
        return any(chosen)

    @property
    def is_descending(self) -> bool:
        """Whether the highest comes first."""
        names = {SubmissionSort.METHOD, SubmissionSort.PERSON, SubmissionSort.STATE}
        return self.sort not in names if self.descending is None else self.descending


@dataclass(frozen=True, slots=True)
class Row:
    """One submission with what organisers look at.

    Attributes:
        submission: with method, person, challenge and entries.
        means: of the primary measure by competition, rounded; None where undefined.
        not_declared: what its competitions ask for and its owner left open.
        has_copies: whether other people have submitted the same archive or the same results.
    """

    submission: Submission
    means: Mapping[str, float | None]
    not_declared: tuple[Declaration, ...]
    has_copies: bool


def page_of_submissions(
    session: Session,
    *,
    challenge: Challenge,
    filters: Filters,
    page: int = 1,
    per_page: int = PER_PAGE,
    after: Cursor | None = None,
) -> Page[Row]:
    """Return a page of the submissions to a challenge that the viewer organises (the caller checks).

    Raises:
        InvalidInputError: there is a cursor, and another order than by time.
    """
    query = select(Submission.id).where(Submission.challenge_id == challenge.id, *_conditions(challenge, filters))
    if filters.sort is SubmissionSort.UPLOADED:  # an index has the first ones
        keys, ascending = (Submission.created_at, Submission.id), not filters.is_descending
        found = paginate_by_time(
            session,
            query,
            keys,
            page=page,
            per_page=per_page,
            after=after,
            ascending=ascending,
            in_one=filters.is_any,
        )
    elif after is not None:
        raise InvalidInputError({"cursor": "Lists in another order than by time have pages by number alone."})
    else:
        query = query.join(Submission.method).join(Submission.user).order_by(*_order(challenge, filters))
        found = paginate_ids(session, query, page=page, per_page=per_page)
    whole = select(Submission).where(Submission.id.in_(found.items))
    of_id = {item.id: item for item in session.scalars(whole.options(*_WHOLE))}  # sorting whole rows takes far longer
    items = [of_id[each] for each in found.items]
    means = visible_means(session, items, for_organisers=True)
    copied = _copied(session, challenge, found.items)
    rows = (Row(item, means.get(item.id, {}), tuple(not_declared(item)), item.id in copied) for item in items)
    return found.of(tuple(rows))


_WHOLE = (
    joinedload(Submission.challenge).selectinload(Challenge.phases),
    joinedload(Submission.method),
    joinedload(Submission.team),
    joinedload(Submission.user),
    selectinload(Submission.entries),
)


def counts(session: Session, challenge: Challenge) -> Mapping[str, int]:
    """Return how many submissions there are of each state, `published` ones, `rehearsals`, and with `copies`.

    Those of a large challenge are up to a minute old.
    """
    if (kept := _recent_counts.get(challenge.id)) is not None:
        return kept
    of_challenge = Submission.challenge_id == challenge.id
    by_state = (
        select(
            Submission.state,
            func.count(),
            func.count().filter(Submission.published_at.is_not(None)),
            func.count().filter(Submission.is_rehearsal),
        )
        .where(of_challenge)
        .group_by(Submission.state)
    )
    # Each alone is a join of two sets; both in one condition would be asked row by row.
    copies = union(*(select(Submission.id).where(of_challenge, condition) for condition in _copied_as())).subquery()
    found = Counter(copies=session.scalar(select(func.count()).select_from(copies)) or 0)
    for state, number, published, rehearsals in session.execute(by_state):
        found.update({state.value: number, "published": published, "rehearsals": rehearsals})
    if sum(found[state] for state in State) > LARGE:
        _recent_counts.keep(challenge.id, found)
    return found


_recent_counts: Recent[Mapping[str, int]] = Recent()


def _conditions(challenge: Challenge, filters: Filters) -> list[ColumnElement[bool]]:
    conditions = uploaded_between(filters.since, filters.until)
    text = searchable(filters.q)[:MAX_SEARCH_LENGTH]
    if text:
        fitting = [
            Submission.method_id.in_(select(Method.id).where(_contains(text, Method.name))),
            Submission.user_id.in_(select(User.id).where(_contains(text, User.name, User.email))),
            _contains(text, Submission.contributors, Submission.affiliation, Submission.archive_name),
        ]
        if _HEXADECIMAL.fullmatch(text):
            # SQLite stores an id without hyphens, PostgreSQL writes it with them.
            identifier = func.replace(cast(Submission.id, String), "-", "")
            fitting.append(_contains(text, Submission.archive_sha256))
            fitting.append(identifier.istartswith(text.replace("-", "")))
        conditions.append(or_(*fitting))
    if filters.kind is not None:
        conditions.append(is_of(filters.kind))
    if filters.competition:
        conditions.append(Submission.entries.any(SubmissionEntry.competition.in_(_keys(challenge, filters))))
    if filters.phase:  # one that the challenge has: anything else is nothing to ask a database for
        ids = [row.id for row in challenge.phases if row.key == filters.phase]
        conditions.append(Submission.phase_id.in_(ids))
    if filters.person is not None:
        conditions.append(Submission.user_id == filters.person)
    match filters.flag:
        case Flag.WARNINGS:
            conditions.append(_warnings() > 0)
        case Flag.UNDECLARED:
            conditions.append(_is_undeclared(challenge))
        case Flag.COPIES:
            conditions.append(_has_copies())
    return conditions


def _contains(text: str, *columns: InstrumentedAttribute[Any]) -> ColumnElement[bool]:
    return or_(*(column.icontains(text, autoescape=True) for column in columns))


def _keys(challenge: Challenge, filters: Filters) -> list[str]:
    """The competition that is filtered by, if the challenge has it: anything else is nothing to ask a database for."""
    return [key for key in edition_of(challenge).competitions if key == filters.competition]


def _warnings() -> ColumnElement[int]:
    return func.json_array_length(Submission.warnings)


def _is_undeclared(challenge: Challenge) -> ColumnElement[bool]:
    needed = needed_by(edition_of(challenge).competitions.values())
    return or_(
        Submission.id.is_(None),  # none, if nothing has to be declared
        *(
            and_(
                Submission.declarations[name].as_string().is_(None),
                Submission.entries.any(SubmissionEntry.competition.in_(need.competitions)),
            )
            for name, need in needed.items()
        ),
    )


def _has_copies() -> ColumnElement[bool]:
    return or_(*_copied_as())


def _copied_as() -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Conditions on submissions: another team has submitted the same archive; the same results."""
    other = aliased(Submission)
    of_another_team = exists().where(
        other.challenge_id == Submission.challenge_id, other.team_id != Submission.team_id, ~other.is_rehearsal
    )
    return (
        and_(~Submission.is_rehearsal, of_another_team.where(other.archive_sha256 == Submission.archive_sha256)),
        and_(~Submission.is_rehearsal, of_another_team.where(other.columns_sha256 == Submission.columns_sha256)),
    )


def _copied(session: Session, challenge: Challenge, ids: Collection[uuid.UUID]) -> set[uuid.UUID]:
    query = select(Submission.id).where(Submission.challenge_id == challenge.id, Submission.id.in_(ids), _has_copies())
    return set(session.scalars(query))


def _order(challenge: Challenge, filters: Filters) -> list[ColumnElement[Any]]:
    by: ColumnElement[Any]
    match filters.sort:
        case SubmissionSort.METHOD:
            by = func.lower(Method.name)
        case SubmissionSort.PERSON:
            by = func.lower(User.name)
        case SubmissionSort.STATE:
            by = Submission.state.expression
        case SubmissionSort.WARNINGS:
            by = _warnings()
        case SubmissionSort.MEAN:
            by = _best_mean(challenge, filters)
    ordered = by.desc() if filters.is_descending else by.asc()
    return [ordered.nulls_last(), Submission.created_at.desc(), Submission.id.expression]


def _best_mean(challenge: Challenge, filters: Filters) -> ColumnElement[Any]:
    """The best mean of a submission's competitions, or that of the competition that is filtered by.

    Means of metrics of which lower values are better are negative here: descending, the best comes first.
    """
    lower = [metric for metric, known in METRICS.items() if not known.higher_is_better]
    query = (
        select(func.max(case((Measure.metric.in_(lower), -Measure.mean), else_=Measure.mean)))
        .join(CompetitionResult, CompetitionResult.id == Measure.result_id)
        .where(CompetitionResult.evaluation_id == Submission.current_evaluation_id, Measure.position == 0)
        .where(Submission.state.in_(WITH_RESULT))
    )
    if filters.competition:
        query = query.where(CompetitionResult.competition.in_(_keys(challenge, filters)))
    return query.correlate(Submission).scalar_subquery()
