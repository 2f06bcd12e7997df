"""Create all tables.

Revision: 2026_11_21_1935_begin
Follows: nothing

Privileges and triggers are not here: `migrations.privileges`, `guards` and `leaderboard_revisions` set them after every
upgrade.
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_1935_begin"
down_revision = None
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
CURRENT_SCORING = "fk_challenges_current_scoring_id_scorings"


def upgrade() -> None:
    """Begin with an empty database."""
    _accounts()
    _mail_and_workers()
    _challenges()
    _submissions()
    _evaluations()


def _accounts() -> None:
    """Accounts, their browser sessions, tokens and links; attempts that limits count; the audit log."""
    op.create_table(
        "attempts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("action", sa.String(length=30), nullable=False),
        sa.Column("subject", sa.String(length=254), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
    )
    op.create_index("ix_attempts_created_at", "attempts", ["created_at"])
    op.create_index("ix_attempts_subject", "attempts", ["subject"])
    op.create_table(
        "users",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("affiliation", sa.String(length=200), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("disabled_at", INSTANT, nullable=True),
        sa.Column("email_confirmed_at", INSTANT, nullable=True),
        sa.Column("approved_at", INSTANT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("email", name="uq_users_email"),
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("label", sa.String(length=100), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("scopes", sa.String(length=60), nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("last_used_at", INSTANT, nullable=True),
        sa.Column("revoked_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_api_tokens_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_api_tokens"),
        sa.UniqueConstraint("token_hash", name="uq_api_tokens_token_hash"),
    )
    op.create_index("ix_api_tokens_user_id", "api_tokens", ["user_id"])
    op.create_table(
        "audit_events",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=True),
        sa.Column("operator", sa.String(length=200), nullable=True),
        sa.Column("action", sa.String(length=60), nullable=False),
        sa.Column("object_type", sa.String(length=30), nullable=False),
        sa.Column("object_id", sa.Uuid(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["actor_id"], ["users.id"], name="fk_audit_events_actor_id_users", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_audit_events"),
    )
    op.create_index("ix_audit_events_created_at", "audit_events", ["created_at"])
    op.create_table(
        "email_links",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("purpose", sa.String(length=20), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_email_links_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_email_links"),
        sa.UniqueConstraint("token_hash", name="uq_email_links_token_hash"),
    )
    op.create_index("ix_email_links_user_id", "email_links", ["user_id"])
    op.create_table(
        "sessions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("last_used_at", INSTANT, nullable=False),
        sa.Column("browser", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_sessions_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.UniqueConstraint("token_hash", name="uq_sessions_token_hash"),
    )
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"])


def _mail_and_workers() -> None:
    """Messages to send, and when each worker last looked for work."""
    op.create_table(
        "outbox",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("sent_at", INSTANT, nullable=True),
        sa.Column("failed_at", INSTANT, nullable=True),
        sa.Column("last_error", sa.String(length=500), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
    )
    op.create_index("ix_outbox_due_at", "outbox", ["due_at"])
    op.create_table(
        "worker_heartbeats",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("looked_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_worker_heartbeats"),
    )


def _challenges() -> None:
    """Challenges, what is public of their ground truth, and rounds of scoring."""
    op.create_table(
        "challenges",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("slug", sa.String(length=60), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("edition", sa.String(length=60), nullable=False),
        sa.Column("edition_file", sa.Text(), nullable=True),
        sa.Column("visibility", sa.String(length=20), nullable=False),
        sa.Column("opens_at", INSTANT, nullable=True),
        sa.Column("closes_at", INSTANT, nullable=True),
        sa.Column("quota_count", sa.Integer(), nullable=False),
        sa.Column("quota_period_seconds", sa.Integer(), nullable=False),
        sa.Column("decimals", sa.Integer(), nullable=False),
        sa.Column("detail", sa.String(length=20), nullable=False),
        sa.Column("current_scoring_id", sa.Uuid(), nullable=True),
        sa.CheckConstraint("quota_count > 0", name=op.f("ck_challenges_quota_count_positive")),
        sa.CheckConstraint("quota_period_seconds > 0", name=op.f("ck_challenges_quota_period_positive")),
        *_current_scoring(),
        sa.PrimaryKeyConstraint("id", name="pk_challenges"),
        sa.UniqueConstraint("slug", name="uq_challenges_slug"),
    )
    op.create_table(
        "challenge_competitions",
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.String(length=30), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name="fk_challenge_competitions_challenge_id_challenges",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("challenge_id", "key", name="pk_challenge_competitions"),
    )
    op.create_table(
        "challenge_organisers",
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name="fk_challenge_organisers_challenge_id_challenges",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_challenge_organisers_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("challenge_id", "user_id", name="pk_challenge_organisers"),
    )
    op.create_table(
        "ground_truth_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("uploaded_by_id", sa.Uuid(), nullable=True),
        sa.Column("file_name", sa.String(length=255), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("lease_id", sa.Uuid(), nullable=True),
        sa.Column("lease_expires_at", INSTANT, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("summary", sa.JSON(), nullable=True),
        sa.Column("competitions", sa.JSON(), nullable=True),
        sa.Column("problems", sa.JSON(), nullable=True),
        sa.Column("image_sets", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name="fk_ground_truth_versions_challenge_id_challenges",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["uploaded_by_id"], ["users.id"], name="fk_ground_truth_versions_uploaded_by_id_users", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_ground_truth_versions"),
        sa.UniqueConstraint("challenge_id", "number", name="uq_ground_truth_versions_challenge_id_number"),
    )
    op.create_index("ix_ground_truth_versions_state", "ground_truth_versions", ["state"])
    op.create_table(
        "leaderboard_revisions",
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name="fk_leaderboard_revisions_challenge_id_challenges",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("challenge_id", name="pk_leaderboard_revisions"),
    )
    op.create_table(
        "scorings",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("ground_truth_version_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name="fk_scorings_challenge_id_challenges", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["ground_truth_version_id"],
            ["ground_truth_versions.id"],
            name="fk_scorings_ground_truth_version_id_ground_truth_versions",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_scorings"),
    )
    op.create_index("ix_scorings_challenge_id", "scorings", ["challenge_id"])
    if not _is_sqlite():
        op.create_foreign_key(CURRENT_SCORING, "challenges", "scorings", ["current_scoring_id"], ["id"])


def _current_scoring() -> list[sa.ForeignKeyConstraint]:
    """Challenges and scorings refer to each other: PostgreSQL gets this key later, SQLite only has it now."""
    return (
        [sa.ForeignKeyConstraint(["current_scoring_id"], ["scorings.id"], name=CURRENT_SCORING)] if _is_sqlite() else []
    )


def _is_sqlite() -> bool:
    return op.get_context().dialect.name == "sqlite"


def _submissions() -> None:
    """Methods, uploads, and submissions, which are the queue."""
    op.create_table(
        "methods",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name="fk_methods_challenge_id_challenges", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_methods_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_methods"),
        sa.UniqueConstraint("challenge_id", "user_id", "name", name="uq_methods_challenge_id_user_id_name"),
    )
    op.create_index("ix_methods_user_id", "methods", ["user_id"])
    op.create_table(
        "uploads",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("address", sa.String(length=254), nullable=False),
        sa.Column("byte_count", sa.BigInteger(), nullable=False),
        sa.Column("lease_expires_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_uploads_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_uploads"),
    )
    op.create_index("ix_uploads_created_at", "uploads", ["created_at"])
    op.create_index("ix_uploads_lease_expires_at", "uploads", ["lease_expires_at"])
    op.create_index("ix_uploads_user_kind", "uploads", ["user_id", "kind", "created_at"])
    op.create_table(
        "submissions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("method_id", sa.Uuid(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("contributors", sa.String(length=1000), nullable=False),
        sa.Column("affiliation", sa.String(length=200), nullable=False),
        sa.Column("training_data", sa.Text(), nullable=False),
        sa.Column("training_annotation", sa.String(length=20), nullable=True),
        sa.Column("flickr_images", sa.String(length=20), nullable=True),
        sa.Column("flickr_count", sa.Integer(), nullable=False),
        sa.Column("flickr_hashes", sa.LargeBinary(), nullable=True),
        sa.Column("segmentation_classes", sa.JSON(), nullable=True),
        sa.Column("archive_sha256", sa.String(length=64), nullable=False),
        sa.Column("archive_bytes", sa.Integer(), nullable=False),
        sa.Column("archive_name", sa.String(length=255), nullable=False),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("queued_at", INSTANT, nullable=False),
        sa.Column("claimed_at", INSTANT, nullable=True),
        sa.Column("finished_at", INSTANT, nullable=True),
        sa.Column("lease_id", sa.Uuid(), nullable=True),
        sa.Column("lease_expires_at", INSTANT, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("failure_detail", sa.Text(), nullable=True),
        sa.Column("quota_returned_at", INSTANT, nullable=True),
        sa.Column("published_at", INSTANT, nullable=True),
        sa.Column("anonymous_token_hash", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name="fk_submissions_challenge_id_challenges", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["method_id"], ["methods.id"], name="fk_submissions_method_id_methods"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_submissions_user_id_users"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint("anonymous_token_hash", name="uq_submissions_anonymous_token_hash"),
    )
    op.create_index("ix_submissions_archive_sha256", "submissions", ["archive_sha256"])
    op.create_index("ix_submissions_challenge_id", "submissions", ["challenge_id"])
    op.create_index("ix_submissions_method_id", "submissions", ["method_id"])
    op.create_index(
        "ix_submissions_published",
        "submissions",
        ["challenge_id"],
        postgresql_where=sa.text("published_at IS NOT NULL"),
        sqlite_where=sa.text("published_at IS NOT NULL"),
    )
    op.create_index("ix_submissions_queue", "submissions", ["state", "queued_at"])
    op.create_index("ix_submissions_user_challenge", "submissions", ["user_id", "challenge_id", "created_at"])
    op.create_table(
        "submission_entries",
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("competition", sa.String(length=30), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("classes", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name="fk_submission_entries_submission_id_submissions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", "competition", name="pk_submission_entries"),
    )


def _evaluations() -> None:
    """Scores, and the curves and confusion matrices that they come with."""
    op.create_table(
        "evaluations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("scoring_id", sa.Uuid(), nullable=False),
        sa.Column("evaluator_version", sa.String(length=30), nullable=False),
        sa.Column("ground_truth_sha256", sa.String(length=64), nullable=False),
        sa.Column("archive_sha256", sa.String(length=64), nullable=False),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["scoring_id"], ["scorings.id"], name="fk_evaluations_scoring_id_scorings"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_evaluations_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_evaluations"),
        sa.UniqueConstraint("submission_id", "scoring_id", name="uq_evaluations_submission_id_scoring_id"),
    )
    op.create_index("ix_evaluations_scoring_id", "evaluations", ["scoring_id"])
    op.create_table(
        "competition_results",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("evaluation_id", sa.Uuid(), nullable=False),
        sa.Column("competition", sa.String(length=30), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("task", sa.String(length=30), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("not_entered", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluations.id"],
            name="fk_competition_results_evaluation_id_evaluations",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_competition_results"),
        sa.UniqueConstraint("evaluation_id", "competition", name="uq_competition_results_evaluation_id_competition"),
    )
    op.create_table(
        "confusion_shares",
        sa.Column("result_id", sa.Uuid(), nullable=False),
        sa.Column("shares", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["result_id"],
            ["competition_results.id"],
            name="fk_confusion_shares_result_id_competition_results",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("result_id", name="pk_confusion_shares"),
    )
    op.create_table(
        "curves",
        sa.Column("result_id", sa.Uuid(), nullable=False),
        sa.Column("class_name", sa.String(length=60), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=30), nullable=False),
        sa.Column("values", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["result_id"],
            ["competition_results.id"],
            name="fk_curves_result_id_competition_results",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("result_id", "class_name", name="pk_curves"),
    )
    op.create_table(
        "measures",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("result_id", sa.Uuid(), nullable=False),
        sa.Column("metric", sa.String(length=60), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("mean", sa.Double(), nullable=True),
        sa.Column("mean_over", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["result_id"],
            ["competition_results.id"],
            name="fk_measures_result_id_competition_results",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_measures"),
        sa.UniqueConstraint("result_id", "metric", name="uq_measures_result_id_metric"),
    )
    op.create_table(
        "public_confusion_matrices",
        sa.Column("result_id", sa.Uuid(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["result_id"],
            ["competition_results.id"],
            name="fk_public_confusion_matrices_result_id_competition_results",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("result_id", name="pk_public_confusion_matrices"),
    )
    op.create_table(
        "public_curves",
        sa.Column("result_id", sa.Uuid(), nullable=False),
        sa.Column("class_name", sa.String(length=60), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=30), nullable=False),
        sa.Column("points", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["result_id"],
            ["competition_results.id"],
            name="fk_public_curves_result_id_competition_results",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("result_id", "class_name", name="pk_public_curves"),
    )
    op.create_table(
        "secret_confusion_matrices",
        sa.Column("result_id", sa.Uuid(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["result_id"],
            ["competition_results.id"],
            name="fk_secret_confusion_matrices_result_id_competition_results",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("result_id", name="pk_secret_confusion_matrices"),
    )
    op.create_table(
        "secret_curves",
        sa.Column("result_id", sa.Uuid(), nullable=False),
        sa.Column("class_name", sa.String(length=60), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=30), nullable=False),
        sa.Column("points", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["result_id"],
            ["competition_results.id"],
            name="fk_secret_curves_result_id_competition_results",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("result_id", "class_name", name="pk_secret_curves"),
    )
    op.create_table(
        "class_scores",
        sa.Column("measure_id", sa.Uuid(), nullable=False),
        sa.Column("class_name", sa.String(length=60), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["measure_id"], ["measures.id"], name="fk_class_scores_measure_id_measures", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("measure_id", "class_name", name="pk_class_scores"),
    )
