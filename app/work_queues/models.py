"""Columns of rows that workers claim."""

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Mapped, mapped_column


class Leased:
    """A mixin for models of work queues. The model also needs `id` and `state`.

    Attributes:
        lease_id: identifies the claim: a worker that has lost its lease cannot store anything.
        attempts: number of claims.
    """

    lease_id: Mapped[uuid.UUID | None]
    lease_expires_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)

    if TYPE_CHECKING:
        id: Mapped[uuid.UUID]
        state: Mapped[Any]
