"""Scores and leaderboards, read from the JSON of the server or the evaluator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vocboard.client.reading import read


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric of one competition: fractions rounded by the server, None if undefined."""

    metric: str
    per_class: Mapping[str, float | None]
    mean: float | None


@dataclass(frozen=True, slots=True)
class Ladder:
    """Why a server shows a score or none before a phase with the Ladder mechanism closes.

    Attributes:
        step: scores that are shown are multiples of it.
        is_new_best: otherwise the mean is not shown.
        best: the last score that was shown to the owner; None for others, or if none was.
    """

    step: float
    is_new_best: bool
    best: float | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts for one class: positives in the ground truth, and results entered."""

    positives: int
    results: int


@dataclass(frozen=True, slots=True)
class Imported:
    """That scores came to the server in an archive: the server has not computed them.

    Attributes:
        on: date, as the server writes it.
        by: name of the organiser who imported it.
    """

    on: str
    by: str

    @property
    def text(self) -> str:
        """Note that the server's pages show next to such scores."""
        return f"imported from an archive on {self.on} by {self.by}; not scored here"


@dataclass(frozen=True, slots=True)
class CompetitionScores:
    """The scores of one competition. Servers and the evaluator use the same JSON.

    Attributes:
        decimals: to which the challenge rounds scores; None from the evaluator, which does not, and from older servers.
        imported: None if they were computed on the server.
    """

    competition: str
    task: str
    primary: Measure
    secondary: tuple[Measure, ...]
    details: Mapping[str, Counts]
    not_entered: tuple[str, ...]
    ladder: Ladder | None = None
    decimals: int | None = None
    imported: Imported | None = None

    @property
    def metric(self) -> str:
        """The primary metric."""
        return self.primary.metric

    @property
    def mean(self) -> float | None:
        """Mean of the primary metric, a fraction; None if undefined."""
        return self.primary.mean

    @property
    def per_class(self) -> Mapping[str, float | None]:
        """Primary metric by class; empty if the challenge shows only means."""
        return self.primary.per_class


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A published method.

    Attributes:
        rank: None if the mean is undefined.
        is_complete: whether every class of the competition was entered.
        per_class: fractions; a class that was not entered is missing.
        best: classes in which no method has a better score; contains `mean` if this holds for the mean.
        submission: its id; None on an anonymous leaderboard.
        interval: ends of the 95 % interval of the mean; None if it is unknown or not shown.
    """

    rank: int | None
    method: str
    contributors: str
    mean: float | None
    is_complete: bool
    per_class: Mapping[str, float | None]
    best: frozenset[str]
    submission: str | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Board:
    """The leaderboard of one competition, best method first.

    Attributes:
        imported: None if all scores were computed on the server.
        is_computing: whether the server is computing intervals for these rows.
    """

    challenge: str
    competition: str
    metric: str
    classes: tuple[str, ...]
    decimals: int
    rows: tuple[BoardRow, ...]
    imported: Imported | None = None
    is_computing: bool = False


def competition_scores(key: str, answer: Mapping[str, Any]) -> CompetitionScores:
    """Read one of the competitions of a scored submission, or of `evaluator.scores.CompetitionScores.as_json`."""
    return read(
        CompetitionScores,
        answer,
        competition=key,
        primary=read(Measure, answer),
        secondary=tuple(read(Measure, item, metric=str(metric)) for metric, item in answer["secondary"].items()),
        imported=_imported(answer.get("imported")),
    )


def board(answer: Mapping[str, Any]) -> Board:
    """Read `GET /challenges/{slug}/leaderboards/{competition}`."""
    return read(
        Board,
        answer,
        rows=tuple(read(BoardRow, row, interval=_interval(row.get("interval"))) for row in answer["rows"]),
        imported=_imported(answer.get("imported")),  # not from older servers
        is_computing=_is_computing(answer.get("statistics")),
    )


def _is_computing(answer: Mapping[str, Any] | None) -> bool:
    return answer is not None and not answer["is_current"] and not answer["is_unavailable"]


def _imported(answer: Mapping[str, Any] | None) -> Imported | None:
    return None if answer is None else Imported(str(answer["at"])[:10], str(answer["by"]))


def _interval(answer: Mapping[str, Any] | None) -> tuple[float, float] | None:
    return None if answer is None else (float(answer["low"]), float(answer["high"]))
