"""When each worker last looked for work."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, Identifier


class WorkerHeartbeat(Base):
    """One run of one worker. Its row is deleted when it stops in order.

    Attributes:
        host: of the machine or container.
        kind: what it works on, such as `scoring`.
        looked_at: when it last looked for work, and its processes took what it had handed to them before.
    """

    __tablename__ = "worker_heartbeats"

    id: Mapped[Identifier]
    host: Mapped[str] = mapped_column(String(255))
    kind: Mapped[str] = mapped_column(String(20))
    started_at: Mapped[datetime]
    looked_at: Mapped[datetime]
