"""Give each challenge a row in `phases` for its first phase, too, and let everything refer to phases by id.

The first phase of a challenge, whose rules were columns of `challenges`, gets the id of the challenge.

Revision: 2026_11_24_0015_phases_always
Follows: 2026_11_23_2350_jobs
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from alembic.operations import BatchOperations

revision = "2026_11_24_0015_phases_always"
down_revision = "2026_11_23_2350_jobs"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
RULES = (
    "opens_at",
    "closes_at",
    "quota_count",
    "quota_period_seconds",
    "shared_quota",
    "detail",
    "admission",
    "min_account_days",
    "leaderboard_from",
    "freeze",
    "freezes_at",
    "anonymous_until",
    "ladder_step",
)
# Rows of a phase that was removed: nothing shows them.
DISPENSABLE = (
    "frozen_leaderboards",
    "board_statistics",
    "image_set_comparisons",
    "submission_sequences",
    "phase_admissions",
    "extra_quotas",
    "resumable_uploads",
)


def upgrade() -> None:
    """Create the table, fill it from both places, and replace keys of phases by ids."""
    _create_phases()
    _add_first_phases()
    _add_further_phases()
    for table in (*DISPENSABLE, "ground_truth_versions", "submissions"):
        _add_phase_ids(table)
    _drop_keys()
    _drop_old_places()


def _create_phases() -> None:
    op.create_table(
        "phases",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.String(length=30), nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("competition_keys", sa.JSON(), nullable=False),
        sa.Column("image_set", sa.String(length=60), nullable=True),
        sa.Column("truth_phase_id", sa.Uuid(), nullable=False),
        sa.Column("current_scoring_id", sa.Uuid(), nullable=True),
        sa.Column("opens_at", INSTANT, nullable=True),
        sa.Column("closes_at", INSTANT, nullable=True),
        sa.Column("quota_count", sa.Integer(), nullable=False),
        sa.Column("quota_period_seconds", sa.Integer(), nullable=False),
        sa.Column("shared_quota", sa.Boolean(), nullable=False),
        sa.Column("detail", sa.String(length=20), nullable=False),
        sa.Column("admission", sa.String(length=20), nullable=False),
        sa.Column("min_account_days", sa.Integer(), nullable=False),
        sa.Column("leaderboard_from", INSTANT, nullable=True),
        sa.Column("freeze", sa.String(length=20), nullable=False),
        sa.Column("freezes_at", INSTANT, nullable=True),
        sa.Column("anonymous_until", INSTANT, nullable=True),
        sa.Column("ladder_step", sa.Double(), nullable=True),
        sa.CheckConstraint("quota_count > 0", name="quota_count_positive"),
        sa.CheckConstraint("quota_period_seconds > 0", name="quota_period_positive"),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name="fk_phases_challenge_id_challenges", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["truth_phase_id"], ["phases.id"], name="fk_phases_truth_phase_id_phases"),
        sa.ForeignKeyConstraint(["current_scoring_id"], ["scorings.id"], name="fk_phases_current_scoring_id_scorings"),
        sa.PrimaryKeyConstraint("id", name="pk_phases"),
        sa.UniqueConstraint("challenge_id", "key", name="uq_phases_challenge_id_key"),
    )


def _add_first_phases() -> None:
    rules = _columns(RULES)
    _execute(
        "INSERT INTO phases (id, created_at, challenge_id, key, title, competition_keys, truth_phase_id,"  # noqa: S608
        f" current_scoring_id, {rules}) SELECT id, created_at, id, 'main', phase_title, '[]', id, current_scoring_id,"
        f" {rules} FROM challenges"
    )
    connection = op.get_bind()
    competitions = sa.table(
        "challenge_competitions", sa.column("challenge_id", sa.Uuid()), sa.column("key"), sa.column("position")
    )
    phases = sa.table("phases", sa.column("id", sa.Uuid()), sa.column("competition_keys", sa.JSON()))
    keys: dict[object, list[str]] = {}
    for challenge_id, key in connection.execute(
        sa.select(competitions.c.challenge_id, competitions.c.key).order_by(competitions.c.position)
    ):
        keys.setdefault(challenge_id, []).append(key)
    for challenge_id, listed in keys.items():
        connection.execute(phases.update().where(phases.c.id == challenge_id).values(competition_keys=listed))


def _add_further_phases() -> None:
    """Copy the other phases. Those without their own ground truth have the current scoring of the first one."""
    rules = _columns(RULES)
    _execute(
        "INSERT INTO phases (id, created_at, challenge_id, key, title, competition_keys, image_set, truth_phase_id,"  # noqa: S608
        f" current_scoring_id, {rules}) SELECT id, created_at, challenge_id, key, phase_title, competition_keys,"
        " image_set, CASE WHEN has_own_truth THEN id ELSE challenge_id END, CASE WHEN has_own_truth"
        " THEN current_scoring_id ELSE (SELECT current_scoring_id FROM challenges WHERE challenges.id = challenge_id)"
        f" END, {rules} FROM challenge_phases"
    )


def _add_phase_ids(table: str) -> None:
    with op.batch_alter_table(table) as batch:
        batch.add_column(sa.Column("phase_id", sa.Uuid(), nullable=True))
    _execute(
        f"UPDATE {table} SET phase_id = (SELECT phases.id FROM phases"  # noqa: S608  # names of ours
        f" WHERE phases.challenge_id = {table}.challenge_id AND phases.key = {table}.phase_key)"
    )
    if table == "board_statistics":  # SQLite does not cascade during migrations
        for child in ("board_agreements", "board_differences"):
            _execute(
                f"DELETE FROM {child} WHERE statistics_id IN"  # noqa: S608
                " (SELECT id FROM board_statistics WHERE phase_id IS NULL)"
            )
    if table in DISPENSABLE:
        _execute(f"DELETE FROM {table} WHERE phase_id IS NULL")  # noqa: S608
    else:  # there are none: a phase with submissions or ground truth cannot be removed
        _execute(f"UPDATE {table} SET phase_id = challenge_id WHERE phase_id IS NULL")  # noqa: S608


def _drop_keys() -> None:
    """Drop the keys of phases, and ids of challenges where the phase tells them."""
    with op.batch_alter_table("submissions") as batch:
        batch.drop_index("ix_submissions_published")
        _replace_key(batch, "submissions", ondelete=None)
        batch.create_index("ix_submissions_phase_id", ["phase_id"])
    published = sa.text("published_at IS NOT NULL")
    op.create_index(
        "ix_submissions_published", "submissions", ["phase_id"], postgresql_where=published, sqlite_where=published
    )
    with op.batch_alter_table("ground_truth_versions") as batch:
        _replace_key(batch, "ground_truth_versions", ondelete=None)
        batch.create_index("ix_ground_truth_versions_phase_id", ["phase_id"])
    with op.batch_alter_table("resumable_uploads") as batch:
        _replace_key(batch, "resumable_uploads")
    with op.batch_alter_table("frozen_leaderboards") as batch:
        batch.drop_constraint("uq_frozen_leaderboards_copy", type_="unique")
        _replace_key(batch, "frozen_leaderboards")
        batch.create_unique_constraint("uq_frozen_leaderboards_copy", ["phase_id", "competition", "frozen_at"])
    with op.batch_alter_table("board_statistics") as batch:
        batch.drop_index("ix_board_statistics_board")
        _replace_key(batch, "board_statistics")
        batch.create_index("ix_board_statistics_board", ["phase_id", "competition"])
    with op.batch_alter_table("image_set_comparisons") as batch:
        batch.drop_constraint("pk_image_set_comparisons", type_="primary")
        _drop_challenge(batch, "image_set_comparisons")
        _replace_key(batch, "image_set_comparisons")
        batch.create_primary_key("pk_image_set_comparisons", ["phase_id", "competition", "other"])
    with op.batch_alter_table("submission_sequences") as batch:
        batch.drop_constraint("pk_submission_sequences", type_="primary")
        _replace_key(batch, "submission_sequences")
        batch.create_primary_key("pk_submission_sequences", ["phase_id", "user_id"])
    with op.batch_alter_table("phase_admissions") as batch:
        batch.drop_constraint("uq_phase_admissions_challenge_id_phase_key_email", type_="unique")
        _drop_challenge(batch, "phase_admissions")
        _replace_key(batch, "phase_admissions")
        batch.create_unique_constraint("uq_phase_admissions_phase_id_email", ["phase_id", "email"])
    with op.batch_alter_table("extra_quotas") as batch:
        batch.drop_index("ix_extra_quotas_person")
        _drop_challenge(batch, "extra_quotas")
        _replace_key(batch, "extra_quotas")
        batch.create_index("ix_extra_quotas_person", ["phase_id", "email"])


def _replace_key(batch: BatchOperations, table: str, ondelete: str | None = "CASCADE") -> None:
    batch.drop_column("phase_key")
    batch.alter_column("phase_id", existing_type=sa.Uuid(), nullable=False)
    batch.create_foreign_key(f"fk_{table}_phase_id_phases", "phases", ["phase_id"], ["id"], ondelete=ondelete)


def _drop_challenge(batch: BatchOperations, table: str) -> None:
    batch.drop_constraint(f"fk_{table}_challenge_id_challenges", type_="foreignkey")
    batch.drop_column("challenge_id")


def _drop_old_places() -> None:
    op.drop_table("challenge_phases")
    op.drop_table("challenge_competitions")
    with op.batch_alter_table("challenges") as batch:
        batch.drop_constraint("fk_challenges_current_scoring_id_scorings", type_="foreignkey")
        for name in ("quota_count_positive", "quota_period_positive"):
            batch.drop_constraint(op.f(f"ck_challenges_{name}"), type_="check")
        for column in ("current_scoring_id", "phase_title", *RULES):
            batch.drop_column(column)
    if op.get_bind().dialect.name == "postgresql":
        for table in ("challenge_phases", "challenge_competitions"):
            _execute(f"DROP FUNCTION IF EXISTS leaderboard_revision_{table}()")
        _execute("DROP FUNCTION IF EXISTS guard_challenge_phases_against_vocboard_web()")


def _columns(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)  # PostgreSQL reserves "freeze"


def _execute(statement: str) -> None:
    op.execute(sa.text(statement))
