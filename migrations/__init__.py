"""Alembic migrations of the database, run by `upgrade`.

A new one, after a change of the models: `alembic revision --autogenerate -m "say what changes"` (configured in
pyproject.toml; `VOCBOARD_DATABASE_URL` names the database to compare with), then read what it wrote.
"""

from vocboard.migrations.run import is_missing, require_newest, upgrade

__all__ = ["is_missing", "require_newest", "upgrade"]
