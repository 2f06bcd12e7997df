"""How `alembic revision --autogenerate` writes a new migration."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal

from alembic.autogenerate.api import AutogenContext
from alembic.operations.ops import MigrationScript
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Enum
from sqlalchemy.types import TypeDecorator

MAX_NAME_LENGTH = 32  # of a revision in the table `alembic_version`; SQLite stores longer ones, PostgreSQL does not


def type_in_migration(kind: str, item: Any, _: AutogenContext) -> str | Literal[False]:
    """Return the type of a column as migrations write it: one of SQLAlchemy's own, so that they import no models.

    Args:
        kind: of the item, such as `type`.
        item: the type, if it is one.

    Returns:
        An expression; False for Alembic's own.
    """
    if kind == "type" and isinstance(item, TypeDecorator):
        return f"sa.{item.impl_instance!r}"
    if kind == "type" and isinstance(item, Enum):
        return f"sa.String(length={item.length})"
    return False


def name_by_date(_: MigrationContext, _revision: Any, scripts: Iterable[MigrationScript]) -> None:
    """Name a migration after the time and its message, 2026_11_21_2045_rescores, as far as Alembic's table holds it."""
    for script in scripts:
        slug = re.sub(r"\W+", "_", (script.message or "migration").lower()).strip("_")
        script.rev_id = f"{datetime.now(UTC):%Y_%m_%d_%H%M}_{slug}"[:MAX_NAME_LENGTH].rstrip("_")
