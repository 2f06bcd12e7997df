"""Schemas for what organisers see of statistics."""

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
    failure: Failure | None = Field(description="Why there are none; null unless the state is `failed`.")
    explanation: str | None = Field(description="The same in words, with what can be done.")


class FailedDiagnoses(BaseModel):
    """Submissions whose errors could not be computed."""

    failure: DiagnosisFailure
    submissions: int = Field(description="Their number.")
    explanation: str = Field(description="Why, in words, with what can be done.")


class StatisticsStates(BaseModel):
    """The statistics of a challenge, and the diagnoses of its submissions."""

    leaderboards: list[BoardStatisticsState]
    diagnoses_waiting: int = Field(description="Submissions whose errors are computed when nothing else is waiting.")
    diagnoses_failed: list[FailedDiagnoses]
