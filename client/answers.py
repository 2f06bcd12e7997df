"""Types for the server's responses. They contain only the fields that the client uses; unknown fields are ignored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from vocboard.client.errors import UnexpectedAnswerError
from vocboard.client.reading import Content, read
from vocboard.client.scores import CompetitionScores, competition_scores
from vocboard.evaluator.problem_groups import ProblemGroup
from vocboard.evaluator.problems import Problem, Severity

FINAL_STATES = frozenset({"scored", "failed", "withdrawn", "disqualified"})


@dataclass(frozen=True, slots=True)
class Person:
    """The owner of a token, and the token's scopes."""

    email: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a challenge; its `state` is `open` while it accepts submissions."""

    key: str
    title: str
    state: str
    opens_at: datetime | None
    closes_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeclarationType:
    """A declaration about a method that the challenge's edition defines.

    Attributes:
        kind: `text`, `choice` or `number`.
        unit: of a number; empty if it has none.
        choices: what each value of a choice means.
        is_required: whether a submission without it is refused.
    """

    title: str
    kind: str
    unit: str
    choices: Mapping[str, str]
    is_required: bool


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge; `phase` is `open` while it accepts submissions.

    Attributes:
        phase: state of the current phase, whose dates `opens_at` and `closes_at` are.
        phases: all of them, by opening date.
        declarations: for each declaration, the competitions that ask for it.
        declaration_types: of each; none if the server is of an earlier version.
    """

    slug: str
    title: str
    phase: str
    opens_at: datetime | None
    closes_at: datetime | None
    phases: tuple[Phase, ...] = ()
    declarations: Mapping[str, Sequence[str]] = field(default_factory=dict)
    declaration_types: Mapping[str, DeclarationType] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Submission:
    """A submission as lists show it; `SubmissionDetails` has all fields.

    Attributes:
        phase: key of the phase; None if the server is of an earlier version.
    """

    id: str
    challenge: str
    phase: str | None
    state: str
    method: str
    competitions: tuple[str, ...]
    created_at: datetime
    published_at: datetime | None

    @property
    def is_final(self) -> bool:
        """Whether the state is final."""
        return self.state in FINAL_STATES


@dataclass(frozen=True, slots=True)
class SubmissionDetails(Submission):
    """One submission.

    Attributes:
        queue_position: 1 for the next in line; None unless it is queued.
        failure: the server's error message; None unless evaluation failed.
        scores: in the edition's order; empty until the submission is scored.
        moderation_reason: why organisers have disqualified or unpublished it, if they have and gave a reason.
    """

    queue_position: int | None
    failure: str | None
    warnings: tuple[Problem, ...]
    scores: tuple[CompetitionScores, ...]
    moderation_reason: str | None = None


@dataclass(frozen=True, slots=True)
class StateEvent:
    """An event of the event stream."""

    state: str
    queue_position: int | None


def understood(convert: Callable[[Any], Content], answer: object) -> Content:
    """Convert a response to a type.

    Args:
        convert: one of the functions below.

    Raises:
        UnexpectedAnswerError: a required field is missing or has the wrong type.
    """
    try:
        return convert(answer)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UnexpectedAnswerError(
            "the server's response lacks a required field; the server or this client may be out of date"
        ) from error


def person(answer: Mapping[str, Any]) -> Person:
    """Read `GET /me`."""
    return read(Person, answer)


def challenge(answer: Mapping[str, Any]) -> Challenge:
    """Read `GET /challenges/{slug}`."""
    declarations: dict[str, list[str]] = {}
    types: dict[str, DeclarationType] = {}
    for competition in answer.get("competitions", ()):
        for declaration in competition.get("declarations", ()):
            declarations.setdefault(str(declaration), []).append(str(competition["key"]))
        for found in competition.get("declaration_types", ()):
            types[str(found["name"])] = read(DeclarationType, found)
    return read(Challenge, answer, declarations=declarations, declaration_types=types)


def submission(answer: Mapping[str, Any]) -> Submission:
    """Read an item of `GET /submissions`."""
    return _submission(Submission, answer)


def submission_details(answer: Mapping[str, Any]) -> SubmissionDetails:
    """Read `GET /submissions/{id}`."""
    warnings = tuple(map(problem, answer["warnings"] or ()))
    scores = tuple(competition_scores(key, item) for key, item in answer["competitions"].items())
    return _submission(SubmissionDetails, answer, warnings=warnings, scores=scores)


def _submission(kind: type[Content], answer: Mapping[str, Any], **given: object) -> Content:
    method, entered = str(answer["method_name"]), tuple(map(str, answer["entered"]))
    return read(kind, answer, phase=answer.get("phase"), method=method, competitions=entered, **given)


def state_event(answer: Mapping[str, Any]) -> StateEvent:
    """Read the data of an event of `GET /submissions/{id}/events`."""
    return read(StateEvent, answer)


def problem(answer: Mapping[str, Any]) -> Problem:
    """Read one problem of an upload."""
    return read(Problem, answer)


def problem_group(answer: Mapping[str, Any], problems: Sequence[Problem]) -> ProblemGroup:
    """Read one group of the problems of an upload."""
    return ProblemGroup.of(
        str(answer["code"]),
        Severity(answer["severity"]),
        str(answer["headline"]),
        int(answer["count"]),
        int(answer["file_count"]),
        problems,
    )
