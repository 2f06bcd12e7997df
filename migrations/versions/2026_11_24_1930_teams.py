"""Teams own methods and submissions; everybody who has any gets a team of one.

Revision: 2026_11_24_1930_teams
Follows: 2026_11_24_1920_reported_results
"""

import uuid
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_1930_teams"
down_revision = "2026_11_24_1920_reported_results"
branch_labels = None
depends_on = None

ROWS_AT_ONCE = 10_000
_OWNED = ("submissions", "methods")
_INSTANT = sa.DateTime(timezone=True)


def _id(name: str) -> sa.ColumnClause[uuid.UUID]:
    return sa.column(name, sa.Uuid())


def upgrade() -> None:
    """Upgrade the database."""
    op.create_table(
        "teams",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name=op.f("fk_teams_challenge_id_challenges"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_teams")),
    )
    named = sa.text("name <> ''")
    op.create_index(
        "ix_teams_name", "teams", ["challenge_id", "name"], unique=True, postgresql_where=named, sqlite_where=named
    )
    op.create_index(op.f("ix_teams_challenge_id"), "teams", ["challenge_id"])
    op.create_table(
        "team_members",
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name=op.f("fk_team_members_challenge_id_challenges"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["teams.id"], name=op.f("fk_team_members_team_id_teams"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_team_members_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("challenge_id", "user_id", name=op.f("pk_team_members")),
    )
    op.create_index(op.f("ix_team_members_team_id"), "team_members", ["team_id"])
    op.create_index(op.f("ix_team_members_user_id"), "team_members", ["user_id"])
    op.create_table(
        "team_invitations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("invited_by_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["invited_by_id"],
            ["users.id"],
            name=op.f("fk_team_invitations_invited_by_id_users"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["teams.id"], name=op.f("fk_team_invitations_team_id_teams"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team_invitations")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_team_invitations_token_hash")),
    )
    op.create_index(op.f("ix_team_invitations_team_id"), "team_invitations", ["team_id"])
    op.create_table(
        "submission_people",
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_submission_people_submission_id_submissions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_submission_people_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("submission_id", "user_id", name=op.f("pk_submission_people")),
    )
    op.create_index(op.f("ix_submission_people_user_id"), "submission_people", ["user_id"])
    _add_teams_of_one()
    _move_to_teams()
    _begin_sequences_again()
    with op.batch_alter_table("challenges") as batch:
        batch.add_column(sa.Column("team_size", sa.Integer(), nullable=False, server_default="1"))
        batch.add_column(sa.Column("teams_until", sa.DateTime(timezone=True), nullable=True))
    with op.batch_alter_table("challenges") as batch:
        batch.alter_column("team_size", existing_type=sa.Integer(), server_default=None)


def _add_teams_of_one() -> None:
    connection, at = op.get_bind(), datetime.now(UTC)
    teams = sa.table("teams", _id("id"), sa.column("created_at", _INSTANT), _id("challenge_id"), sa.column("name"))
    members = sa.table(
        "team_members",
        _id("challenge_id"),
        _id("user_id"),
        _id("team_id"),
        sa.column("role"),
        sa.column("joined_at", _INSTANT),
    )
    owned = [sa.table(name, _id("challenge_id"), _id("user_id")) for name in _OWNED]
    rows = connection.execute(sa.union(*(sa.select(table.c.challenge_id, table.c.user_id) for table in owned))).all()
    for first in range(0, len(rows), ROWS_AT_ONCE):
        found = [(uuid.uuid4(), *row) for row in rows[first : first + ROWS_AT_ONCE]]
        connection.execute(
            teams.insert(), [{"id": one, "created_at": at, "challenge_id": of, "name": ""} for one, of, _ in found]
        )
        connection.execute(
            members.insert(),
            [
                {"challenge_id": of, "user_id": user, "team_id": one, "role": "owner", "joined_at": at}
                for one, of, user in found
            ],
        )
    op.execute("INSERT INTO submission_people (submission_id, user_id) SELECT id, user_id FROM submissions")


def _move_to_teams() -> None:
    for table in _OWNED:
        with op.batch_alter_table(table) as batch:
            batch.add_column(sa.Column("team_id", sa.Uuid(), nullable=True))
        op.execute(
            f"UPDATE {table} SET team_id = (SELECT team_id FROM team_members WHERE team_members.challenge_id"  # noqa: S608
            f" = {table}.challenge_id AND team_members.user_id = {table}.user_id)"  # our own constants
        )
    with op.batch_alter_table("submissions") as batch:
        batch.alter_column("team_id", existing_type=sa.Uuid(), nullable=False)
        batch.create_foreign_key(batch.f("fk_submissions_team_id_teams"), "teams", ["team_id"], ["id"])
        batch.create_index("ix_submissions_team", ["team_id", "created_at"])
    with op.batch_alter_table("methods") as batch:
        batch.drop_constraint("uq_methods_challenge_id_user_id_name", type_="unique")
        batch.drop_constraint("fk_methods_user_id_users", type_="foreignkey")
        batch.drop_index("ix_methods_user_id")
        batch.drop_column("user_id")
        batch.alter_column("team_id", existing_type=sa.Uuid(), nullable=False)
        batch.create_foreign_key(batch.f("fk_methods_team_id_teams"), "teams", ["team_id"], ["id"])
        batch.create_unique_constraint(batch.f("uq_methods_team_id_name"), ["team_id", "name"])
        batch.create_index(batch.f("ix_methods_challenge_id"), ["challenge_id"])


def _begin_sequences_again() -> None:
    """Key the comparisons of submissions by team; workers compute them again."""
    op.drop_table("submission_sequences")
    op.create_table(
        "submission_sequences",
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("phase_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("submissions", sa.Integer(), nullable=False),
        sa.Column("latest_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decimals", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("is_due", sa.Boolean(), nullable=False),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("content", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name=op.f("fk_submission_sequences_challenge_id_challenges"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["phase_id"], ["phases.id"], name=op.f("fk_submission_sequences_phase_id_phases"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("phase_id", "team_id", name=op.f("pk_submission_sequences")),
    )
    op.create_index(op.f("ix_submission_sequences_is_due"), "submission_sequences", ["is_due"])
