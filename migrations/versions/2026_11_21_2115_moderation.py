"""Add what moderation needs: disqualified and held-back submissions, bans, co-organisers, archived challenges.

Revision: 2026_11_21_2115_moderation
Follows: 2026_11_21_2045_rescores
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_2115_moderation"
down_revision = "2026_11_21_2045_rescores"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """The creator of a challenge owns it; each audit event gets its challenge."""
    with op.batch_alter_table("submissions") as submissions:
        submissions.add_column(sa.Column("held_back_at", INSTANT, nullable=True))
        submissions.add_column(sa.Column("moderation_reason", sa.Text(), nullable=True))
        submissions.add_column(sa.Column("published_before", INSTANT, nullable=True))
    with op.batch_alter_table("challenges") as challenges:
        challenges.add_column(sa.Column("archived_at", INSTANT, nullable=True))
        challenges.add_column(sa.Column("imported_at", INSTANT, nullable=True))
    op.create_table(
        "bans",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name=op.f("fk_bans_challenge_id_challenges"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_bans_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bans")),
        sa.UniqueConstraint("user_id", "challenge_id", name=op.f("uq_bans_user_id_challenge_id")),
    )
    op.create_index(op.f("ix_bans_challenge_id"), "bans", ["challenge_id"])
    op.create_table(
        "challenge_invitations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("invited_by_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name=op.f("fk_challenge_invitations_challenge_id_challenges"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["invited_by_id"],
            ["users.id"],
            name=op.f("fk_challenge_invitations_invited_by_id_users"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_challenge_invitations")),
        sa.UniqueConstraint("challenge_id", "email", name=op.f("uq_challenge_invitations_challenge_id_email")),
    )
    op.create_index(op.f("ix_challenge_invitations_email"), "challenge_invitations", ["email"])
    _make_owners()
    _name_challenges_of_events()


def _make_owners() -> None:
    with op.batch_alter_table("challenge_organisers") as organisers:
        organisers.add_column(sa.Column("is_owner", sa.Boolean(), nullable=True))
    op.execute(
        "UPDATE challenge_organisers SET is_owner = NOT EXISTS (SELECT 1 FROM challenge_organisers AS other WHERE"
        " other.challenge_id = challenge_organisers.challenge_id AND other.user_id < challenge_organisers.user_id)"
    )
    with op.batch_alter_table("challenge_organisers") as organisers:
        organisers.alter_column("is_owner", existing_type=sa.Boolean(), nullable=False)
    op.create_index(
        "ix_challenge_organisers_owner",
        "challenge_organisers",
        ["challenge_id"],
        unique=True,
        postgresql_where=sa.text("is_owner"),
        sqlite_where=sa.text("is_owner"),
    )


def _name_challenges_of_events() -> None:
    with op.batch_alter_table("audit_events") as events:
        events.add_column(sa.Column("challenge_id", sa.Uuid(), nullable=True))
    op.execute("UPDATE audit_events SET challenge_id = object_id WHERE object_type = 'challenges'")
    for table in ("submissions", "ground_truth_versions"):
        op.execute(
            f"UPDATE audit_events SET challenge_id = (SELECT challenge_id FROM {table}"  # noqa: S608  # our names
            f" WHERE {table}.id = audit_events.object_id) WHERE object_type = '{table}'"
        )
    op.create_index("ix_audit_events_challenge", "audit_events", ["challenge_id", "created_at"])
