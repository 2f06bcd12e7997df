"""Requests to be admitted to phases, with questions, and terms of challenges that people accept.

Revision: 2026_11_28_0526_admission
Follows: 2026_11_28_0515_security_keys
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_0526_admission"
down_revision = "2026_11_28_0515_security_keys"
branch_labels = None
depends_on = None
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add the column and the tables."""
    with op.batch_alter_table("challenges") as batch:
        batch.add_column(sa.Column("admission_questions", sa.JSON(), nullable=False, server_default="[]"))
    with op.batch_alter_table("challenges") as batch:
        batch.alter_column("admission_questions", existing_type=sa.JSON(), server_default=None)
    op.create_table(
        "admission_requests",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("phase_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("decided_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(
            ["phase_id"], ["phases.id"], name=op.f("fk_admission_requests_phase_id_phases"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_admission_requests_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_admission_requests")),
        sa.UniqueConstraint("phase_id", "user_id", name=op.f("uq_admission_requests_phase_id_user_id")),
    )
    op.create_index(op.f("ix_admission_requests_user_id"), "admission_requests", ["user_id"])
    op.create_table(
        "challenge_terms",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name=op.f("fk_challenge_terms_challenge_id_challenges"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_challenge_terms")),
        sa.UniqueConstraint("challenge_id", "number", name=op.f("uq_challenge_terms_challenge_id_number")),
    )
    op.create_table(
        "terms_acceptances",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("terms_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["terms_id"],
            ["challenge_terms.id"],
            name=op.f("fk_terms_acceptances_terms_id_challenge_terms"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_terms_acceptances_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_terms_acceptances")),
        sa.UniqueConstraint("terms_id", "user_id", name=op.f("uq_terms_acceptances_terms_id_user_id")),
    )
    op.create_index(op.f("ix_terms_acceptances_user_id"), "terms_acceptances", ["user_id"])
