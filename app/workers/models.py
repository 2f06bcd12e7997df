"""Model of workers' heartbeats."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, Identifier


class WorkerHeartbeat(Base):
    """The heartbeat of a worker. The row is deleted when the worker stops normally.

    Attributes:
        host: name of the machine or container.
        kind: kind of worker, for example `scoring`.
        looked_at: when it last looked for work, with its processes having taken all earlier work.
    """

    __tablename__ = "worker_heartbeats"

    id: Mapped[Identifier]
    host: Mapped[str] = mapped_column(String(255))
    kind: Mapped[str] = mapped_column(String(20))
    started_at: Mapped[datetime]
    looked_at: Mapped[datetime]
