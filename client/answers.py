"""Types for the server's responses. They contain only the fields that the client uses; unknown fields are ignored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from vocboard.client.errors import UnexpectedAnswerError
from vocboard.client.scores import CompetitionScores, competition_scores
from vocboard.evaluator.problem_groups import ProblemGroup
from vocboard.evaluator.problems import Problem, Severity

Content = TypeVar("Content")
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
    return Person(str(answer["email"]), tuple(str(scope) for scope in answer["scopes"]))


def challenge(answer: Mapping[str, Any]) -> Challenge:
    """Read `GET /challenges/{slug}`."""
    return Challenge(
        slug=str(answer["slug"]),
        title=str(answer["title"]),
        phase=str(answer["phase"]),
        opens_at=_instant(answer["opens_at"]),
        closes_at=_instant(answer["closes_at"]),
        phases=tuple(map(_phase, answer.get("phases", ()))),
        declarations=_declarations(answer),
        declaration_types=_declaration_types(answer),
    )


def _phase(answer: Mapping[str, Any]) -> Phase:
    return Phase(
        key=str(answer["key"]),
        title=str(answer["title"]),
        state=str(answer["state"]),
        opens_at=_instant(answer["opens_at"]),
        closes_at=_instant(answer["closes_at"]),
    )


def _declarations(answer: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for competition in answer.get("competitions", ()):
        for declaration in competition.get("declarations", ()):
            found.setdefault(str(declaration), []).append(str(competition["key"]))
    return found


def _declaration_types(answer: Mapping[str, Any]) -> dict[str, DeclarationType]:
    return {
        str(found["name"]): DeclarationType(
            title=str(found["title"]),
            kind=str(found["kind"]),
            unit=str(found["unit"]),
            choices={str(value): str(words) for value, words in found["choices"].items()},
            is_required=bool(found["is_required"]),
        )
        for competition in answer.get("competitions", ())
        for found in competition.get("declaration_types", ())
    }


def submission(answer: Mapping[str, Any]) -> Submission:
    """Read an item of `GET /submissions`."""
    return Submission(**_summary(answer))


def submission_details(answer: Mapping[str, Any]) -> SubmissionDetails:
    """Read `GET /submissions/{id}`."""
    position, failure, reason = answer["queue_position"], answer["failure"], answer.get("moderation_reason")
    return SubmissionDetails(
        **_summary(answer),
        queue_position=None if position is None else int(position),
        failure=None if failure is None else str(failure),
        warnings=tuple(problem(item) for item in answer["warnings"] or ()),
        scores=tuple(competition_scores(key, item) for key, item in answer["competitions"].items()),
        moderation_reason=None if reason is None else str(reason),
    )


def state_event(answer: Mapping[str, Any]) -> StateEvent:
    """Read the data of an event of `GET /submissions/{id}/events`."""
    position = answer["queue_position"]
    return StateEvent(str(answer["state"]), None if position is None else int(position))


def problem(answer: Mapping[str, Any]) -> Problem:
    """Read one problem of an upload."""
    file, line = answer["file"], answer["line"]
    return Problem(
        code=str(answer["code"]),
        severity=Severity(answer["severity"]),
        message=str(answer["message"]),
        file=None if file is None else str(file),
        line=None if line is None else int(line),
    )


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


def _summary(answer: Mapping[str, Any]) -> dict[str, Any]:
    created_at = _instant(answer["created_at"])
    if created_at is None:
        raise ValueError("no time of creation")
    return {
        "id": str(answer["id"]),
        "challenge": str(answer["challenge"]),
        "phase": answer.get("phase"),
        "state": str(answer["state"]),
        "method": str(answer["method_name"]),
        "competitions": tuple(str(key) for key in answer["entered"]),
        "created_at": created_at,
        "published_at": _instant(answer["published_at"]),
    }


def _instant(value: Any) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
