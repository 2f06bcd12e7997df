"""Columns of database rows that workers claim: mixins for models."""

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Mapped, mapped_column


class Leased:
    """A row that a worker can claim.

    Attributes:
        lease_id: the claim; a worker whose claim has been taken over cannot store anything.
        attempts: the number of claims so far.
    """

    lease_id: Mapped[uuid.UUID | None]
    lease_expires_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)


class LeasedWithState(Leased):
    """A row that is claimed by its `id`, and whose `state` says whether it is waiting. The model has both columns."""

    if TYPE_CHECKING:
        id: Mapped[uuid.UUID]
        state: Mapped[Any]
