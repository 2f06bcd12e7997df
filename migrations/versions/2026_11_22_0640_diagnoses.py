"""Keep what is wrong with the results of a submission: coarse shares for the web, and exact counts for workers.

Revision: 2026_11_22_0640_diagnoses
Follows: 2026_11_22_0415_ladder
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_0640_diagnoses"
down_revision = "2026_11_22_0415_ladder"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables, and a task for each evaluation that counts."""
    _create("diagnosis_shares", sa.Column("shares", sa.JSON(), nullable=False))
    for name in ("secret_diagnoses", "public_diagnoses"):
        _create(
            name,
            sa.Column("version", sa.Integer(), nullable=False),
            sa.Column("content", sa.JSON(), nullable=False),
        )
    op.create_table(
        "diagnosis_tasks",
        sa.Column("evaluation_id", sa.Uuid(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("lease_id", sa.Uuid(), nullable=True),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluations.id"],
            name="fk_diagnosis_tasks_evaluation_id_evaluations",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("evaluation_id", name="pk_diagnosis_tasks"),
    )
    op.execute(
        "INSERT INTO diagnosis_tasks (evaluation_id, attempts) SELECT current_evaluation_id, 0 FROM submissions"
        " WHERE current_evaluation_id IS NOT NULL"
    )


def _create(table: str, *columns: sa.Column[object]) -> None:
    op.create_table(
        table,
        sa.Column("result_id", sa.Uuid(), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(
            ["result_id"],
            ["competition_results.id"],
            name=f"fk_{table}_result_id_competition_results",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("result_id", name=f"pk_{table}"),
    )
