"""Schemas for the state of statistics, for organisers."""

from pydantic import BaseModel, Field

from vocboard.app.evaluations.diagnosis_failures import DiagnosisFailure
from vocboard.app.leaderboards.statistics_states import StatisticsState
from vocboard.app.statistics.boards import Failure


class BoardStatisticsState(BaseModel):
    """Whether a leaderboard has intervals and rank ranges."""

    phase: str = Field(description="Key of the phase.")
    competition: str
    methods: int = Field(description="Number of methods that the leaderboard shows.")
    state: StatisticsState
    failure: Failure | None = Field(description="Why there are no statistics; null unless `state` is `failed`.")
    explanation: str | None = Field(description="`failure` in words, and what to do about it.")


class FailedDiagnoses(BaseModel):
    """Number of submissions whose diagnosis failed for one reason."""

    failure: DiagnosisFailure
    submissions: int = Field(description="Number of submissions.")
    explanation: str = Field(description="`failure` in words, and what to do about it.")


class StatisticsStates(BaseModel):
    """The statistics of a challenge, and the diagnoses of its submissions."""

    leaderboards: list[BoardStatisticsState]
    diagnoses_waiting: int = Field(
        description="Number of submissions that will be diagnosed when nothing else is waiting."
    )
    diagnoses_failed: list[FailedDiagnoses] = Field(description="Failed diagnoses by reason.")
