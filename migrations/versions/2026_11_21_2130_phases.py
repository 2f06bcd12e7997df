"""Give challenges phases: dates of leaderboards, admission, extra quota, frozen leaderboards, rehearsals.

Existing challenges have one phase, whose leaderboards never freeze, as before.

Revision: 2026_11_21_2130_phases
Follows: 2026_11_21_2115_moderation
"""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_2130_phases"
down_revision = "2026_11_21_2115_moderation"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add the columns with what they mean for existing rows, and the tables."""
    _add_filled(
        "challenges",
        {
            "admission": (sa.String(length=20), "'everyone'"),
            "freeze": (sa.String(length=20), "'never'"),
            "phase_title": (sa.String(length=100), "''"),
            "anywhere_on_earth": (sa.Boolean(), "false"),
        },
        nullable=("leaderboard_from", "freezes_at", "anonymous_until"),
    )
    _add_filled("ground_truth_versions", {"phase_key": (sa.String(length=30), "'main'")})
    _add_filled(
        "submissions",
        {
            "phase_key": (sa.String(length=30), "'main'"),
            "began_at": (INSTANT, "created_at"),
            "publish_when_scored": (sa.Boolean(), "false"),
            "is_rehearsal": (sa.Boolean(), "false"),
        },
    )
    _phases()
    _people()
    op.create_table(
        "frozen_leaderboards",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("phase_key", sa.String(length=30), nullable=False),
        sa.Column("competition", sa.String(length=30), nullable=False),
        sa.Column("frozen_at", INSTANT, nullable=False),
        sa.Column("is_final", sa.Boolean(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        _of_challenge("frozen_leaderboards"),
        sa.PrimaryKeyConstraint("id", name="pk_frozen_leaderboards"),
        sa.UniqueConstraint(
            "challenge_id",
            "phase_key",
            "competition",
            "frozen_at",
            name="uq_frozen_leaderboards_copy",
        ),
    )


def _add_filled(table: str, columns: Mapping[str, tuple[Any, str]], *, nullable: tuple[str, ...] = ()) -> None:
    """Add columns that are never NULL, with a value (SQL) for existing rows, and dates that may be."""
    with op.batch_alter_table(table) as batch:
        for name, (kind, _) in columns.items():
            batch.add_column(sa.Column(name, kind, nullable=True))
        for name in nullable:
            batch.add_column(sa.Column(name, INSTANT, nullable=True))
    values = ", ".join(f'"{name}" = {value}' for name, (_, value) in columns.items())  # PostgreSQL reserves "freeze"
    op.execute(f"UPDATE {table} SET {values}")  # noqa: S608  # names of ours
    with op.batch_alter_table(table) as batch:
        for name, (kind, _) in columns.items():
            batch.alter_column(name, existing_type=kind, nullable=False)


def _of_challenge(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_challenge_id_challenges"
    return sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name=name, ondelete="CASCADE")


def _phases() -> None:
    op.create_table(
        "challenge_phases",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.String(length=30), nullable=False),
        sa.Column("phase_title", sa.String(length=100), nullable=False),
        sa.Column("competition_keys", sa.JSON(), nullable=False),
        sa.Column("image_set", sa.String(length=60), nullable=True),
        sa.Column("has_own_truth", sa.Boolean(), nullable=False),
        sa.Column("current_scoring_id", sa.Uuid(), nullable=True),
        sa.Column("opens_at", INSTANT, nullable=True),
        sa.Column("closes_at", INSTANT, nullable=True),
        sa.Column("quota_count", sa.Integer(), nullable=False),
        sa.Column("quota_period_seconds", sa.Integer(), nullable=False),
        sa.Column("detail", sa.String(length=20), nullable=False),
        sa.Column("admission", sa.String(length=20), nullable=False),
        sa.Column("leaderboard_from", INSTANT, nullable=True),
        sa.Column("freeze", sa.String(length=20), nullable=False),
        sa.Column("freezes_at", INSTANT, nullable=True),
        sa.Column("anonymous_until", INSTANT, nullable=True),
        sa.CheckConstraint("quota_count > 0", name="quota_count_positive"),
        sa.CheckConstraint("quota_period_seconds > 0", name="quota_period_positive"),
        _of_challenge("challenge_phases"),
        sa.ForeignKeyConstraint(
            ["current_scoring_id"], ["scorings.id"], name="fk_challenge_phases_current_scoring_id_scorings"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_challenge_phases"),
        sa.UniqueConstraint("challenge_id", "key", name="uq_challenge_phases_challenge_id_key"),
    )


def _people() -> None:
    op.create_table(
        "phase_admissions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("phase_key", sa.String(length=30), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        _of_challenge("phase_admissions"),
        sa.PrimaryKeyConstraint("id", name="pk_phase_admissions"),
        sa.UniqueConstraint(
            "challenge_id", "phase_key", "email", name="uq_phase_admissions_challenge_id_phase_key_email"
        ),
    )
    op.create_table(
        "extra_quotas",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("phase_key", sa.String(length=30), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("until", INSTANT, nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.CheckConstraint("count > 0", name="count_positive"),
        _of_challenge("extra_quotas"),
        sa.PrimaryKeyConstraint("id", name="pk_extra_quotas"),
    )
    op.create_index("ix_extra_quotas_person", "extra_quotas", ["challenge_id", "email"])
