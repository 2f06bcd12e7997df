"""The columns of a row that workers claim."""

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Mapped, mapped_column


class Leased:
    """A mixin for models whose rows are work. The model has an `id` and a `state`, too.

    Attributes:
        lease_id: who holds the row: a worker whose lease was taken over can no longer store anything.
        attempts: how often it has been claimed.
    """

    lease_id: Mapped[uuid.UUID | None]
    lease_expires_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)

    if TYPE_CHECKING:
        id: Mapped[uuid.UUID]
        state: Mapped[Any]
