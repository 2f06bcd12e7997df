"""Let ground truth be corrected: re-scores, each submission's current evaluation, warnings that are confirmed.

Revision: 2026_11_21_2045_rescores
Follows: 2026_11_21_1945_columns
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_2045_rescores"
down_revision = "2026_11_21_1945_columns"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
CURRENT_EVALUATION = "fk_submissions_current_evaluation_id_evaluations"


def upgrade() -> None:
    """Evaluations of each challenge's current scoring are the current ones of their submissions."""
    with op.batch_alter_table("ground_truth_versions") as versions:
        versions.add_column(sa.Column("warnings", sa.JSON(), nullable=True))
        versions.add_column(sa.Column("confirmed_at", INSTANT, nullable=True))
        versions.add_column(sa.Column("confirmed_by_id", sa.Uuid(), nullable=True))
        versions.create_foreign_key(
            "fk_ground_truth_versions_confirmed_by_id_users", "users", ["confirmed_by_id"], ["id"], ondelete="SET NULL"
        )
    with op.batch_alter_table("submissions") as submissions:
        submissions.add_column(sa.Column("current_evaluation_id", sa.Uuid(), nullable=True))
        submissions.create_foreign_key(CURRENT_EVALUATION, "evaluations", ["current_evaluation_id"], ["id"])
    op.execute(
        "UPDATE submissions SET current_evaluation_id = (SELECT evaluations.id FROM evaluations JOIN challenges "
        "ON challenges.current_scoring_id = evaluations.scoring_id WHERE evaluations.submission_id = submissions.id)"
    )
    _leave_revisions_alone_when_evaluations_are_added()
    _rescores()


def _leave_revisions_alone_when_evaluations_are_added() -> None:
    """Leaderboards show an evaluation once it is a submission's current one, which is a change of the submission."""
    if op.get_context().dialect.name == "sqlite":
        for event in ("insert", "update", "delete"):
            op.execute(f"DROP TRIGGER IF EXISTS leaderboard_revision_evaluations_{event}")
    else:
        op.execute("DROP TRIGGER IF EXISTS leaderboard_revision_evaluations ON evaluations")
        op.execute("DROP FUNCTION IF EXISTS leaderboard_revision_evaluations()")


def _rescores() -> None:
    op.create_table(
        "rescores",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("ground_truth_version_id", sa.Uuid(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("started_by_id", sa.Uuid(), nullable=True),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("apply_requested_at", INSTANT, nullable=True),
        sa.Column("apply_requested_by_id", sa.Uuid(), nullable=True),
        sa.Column("finished_at", INSTANT, nullable=True),
        sa.Column("scoring_id", sa.Uuid(), nullable=True),
        sa.Column("evaluator_version", sa.String(length=30), nullable=True),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("report_revision", sa.BigInteger(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name="fk_rescores_challenge_id_challenges", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["ground_truth_version_id"],
            ["ground_truth_versions.id"],
            name="fk_rescores_ground_truth_version_id_ground_truth_versions",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_rescores_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["started_by_id"], ["users.id"], name="fk_rescores_started_by_id_users", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["apply_requested_by_id"], ["users.id"], name="fk_rescores_apply_requested_by_id_users", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["scoring_id"], ["scorings.id"], name="fk_rescores_scoring_id_scorings"),
        sa.PrimaryKeyConstraint("id", name="pk_rescores"),
    )
    op.create_index("ix_rescores_challenge_id_created_at", "rescores", ["challenge_id", "created_at"])
    op.create_index("ix_rescores_state", "rescores", ["state"])
    op.create_table(
        "rescore_items",
        sa.Column("rescore_id", sa.Uuid(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("lease_id", sa.Uuid(), nullable=True),
        sa.Column("lease_expires_at", INSTANT, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("finished_at", INSTANT, nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("failure_detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["rescore_id"], ["rescores.id"], name="fk_rescore_items_rescore_id_rescores", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_rescore_items_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("rescore_id", "submission_id", name="pk_rescore_items"),
    )
    op.create_index("ix_rescore_items_waiting", "rescore_items", ["rescore_id", "finished_at"])
