"""Create all tables: the baseline that later migrations follow.

Revision: 2026_11_24_1640_showcase
Follows: nothing

It replaces the revisions of earlier development versions and keeps the identifier of the last one, so a database at
that revision has these tables already. Names of constraints follow the convention of `vocboard.app.database.Base`.
Privileges and triggers are not here: `migrations.privileges`, `guards` and `leaderboard_revisions` set them after every
upgrade.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_1640_showcase"
down_revision = None
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Begin with an empty database."""
    _accounts()
    _work()
    _challenges()
    _submissions()
    _evaluations()
    _leaderboards()
    if not _is_sqlite():
        _add_later("phases", "current_scoring_id", "scorings")
        _add_later("submissions", "current_evaluation_id", "evaluations")


def _id() -> sa.Column[Any]:
    return sa.Column("id", sa.Uuid(), primary_key=True)


def _reference(name: str, target: str, *, ondelete: str | None = "CASCADE", **options: Any) -> sa.Column[Any]:
    """Column with a foreign key."""
    return sa.Column(name, sa.Uuid(), sa.ForeignKey(target, ondelete=ondelete), **options)


def _later(name: str, target: str) -> sa.Column[Any]:
    """Column whose foreign key refers to a table created later: PostgreSQL gets it then, SQLite only has it now."""
    return _reference(name, target, ondelete=None) if _is_sqlite() else sa.Column(name, sa.Uuid())


def _add_later(table: str, column: str, target: str) -> None:
    op.create_foreign_key(op.f(f"fk_{table}_{column}_{target}"), table, target, [column], ["id"])


def _is_sqlite() -> bool:
    return op.get_context().dialect.name == "sqlite"


def _where(condition: str) -> dict[str, Any]:
    """Options of a partial index."""
    return {"postgresql_where": sa.text(condition), "sqlite_where": sa.text(condition)}


def _accounts() -> None:
    """Accounts, their browser sessions, tokens and links; attempts that limits count; the audit log."""
    op.create_table(
        "users",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("email", sa.String(254), nullable=False, unique=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("affiliation", sa.String(200), nullable=False),
        sa.Column("password_hash", sa.String(200), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("disabled_at", INSTANT),
        sa.Column("email_confirmed_at", INSTANT),
        sa.Column("approved_at", INSTANT),
        sa.Column("mailbox", sa.String(254), nullable=False, index=True),
    )
    op.create_table(
        "api_tokens",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("user_id", "users.id", nullable=False, index=True),
        sa.Column("label", sa.String(100), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(32), nullable=False, unique=True),
        sa.Column("scopes", sa.String(60), nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("last_used_at", INSTANT),
        sa.Column("revoked_at", INSTANT),
    )
    op.create_table(
        "attempts",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False, index=True),
        sa.Column("action", sa.String(30), nullable=False),
        sa.Column("subject", sa.String(254), nullable=False, index=True),
    )
    op.create_table(
        "audit_events",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False, index=True),
        _reference("actor_id", "users.id", ondelete="SET NULL"),
        sa.Column("operator", sa.String(200)),
        sa.Column("action", sa.String(60), nullable=False),
        sa.Column("object_type", sa.String(30), nullable=False),
        sa.Column("object_id", sa.Uuid()),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("challenge_id", sa.Uuid()),
    )
    op.create_index("ix_audit_events_challenge", "audit_events", ["challenge_id", "created_at"])
    op.create_table(
        "email_links",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("user_id", "users.id", nullable=False, index=True),
        sa.Column("purpose", sa.String(20), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(32), nullable=False, unique=True),
        sa.Column("expires_at", INSTANT, nullable=False),
    )
    op.create_table(
        "sessions",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("user_id", "users.id", nullable=False, index=True),
        sa.Column("token_hash", sa.LargeBinary(32), nullable=False, unique=True),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("last_used_at", INSTANT, nullable=False),
        sa.Column("browser", sa.String(200), nullable=False),
    )


def _work() -> None:
    """Jobs of the workers, email to send, and when each worker last looked for work."""
    op.create_table(
        "jobs",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("key", sa.Uuid(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Uuid()),
        sa.Column("not_before", INSTANT, nullable=False),
        sa.Column("lease_id", sa.Uuid()),
        sa.Column("claimed_at", INSTANT),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("finished_at", INSTANT, index=True),
        sa.Column("failure", sa.String(20)),
        sa.Column("detail", sa.Text()),
    )
    op.create_index("ix_jobs_due", "jobs", ["priority", "not_before"], **_where("finished_at IS NULL"))
    op.create_index("ix_jobs_key", "jobs", ["key"])
    op.create_index("ix_jobs_owner", "jobs", ["kind", "owner"])
    op.create_index("uq_jobs_pending", "jobs", ["kind", "key"], unique=True, **_where("finished_at IS NULL"))
    op.create_table(
        "outbox",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("recipient", sa.String(254), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
    )
    op.create_table(
        "worker_heartbeats",
        _id(),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("looked_at", INSTANT, nullable=False),
    )


def _challenges() -> None:
    """Challenges, their people, phases, ground truth and rounds of scoring."""
    op.create_table(
        "challenges",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("slug", sa.String(60), nullable=False, unique=True),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("edition", sa.String(60), nullable=False),
        sa.Column("edition_file", sa.Text()),
        sa.Column("visibility", sa.String(20), nullable=False),
        sa.Column("decimals", sa.Integer(), nullable=False),
        sa.Column("archived_at", INSTANT),
        sa.Column("imported_at", INSTANT),
        sa.Column("anywhere_on_earth", sa.Boolean(), nullable=False),
        sa.Column("edition_version", sa.Integer(), nullable=False),
        sa.Column("statistics", sa.Boolean(), nullable=False),
        sa.Column("statistics_requested_at", INSTANT),
        sa.Column("label_key", sa.LargeBinary(32), nullable=False),
        sa.Column("summary", sa.String(200), nullable=False),
        sa.Column("website", sa.String(500), nullable=False),
        sa.Column("contact", sa.String(500), nullable=False),
        sa.Column("organised_by", sa.Text(), nullable=False),
        sa.Column("citation", sa.Text(), nullable=False),
        sa.Column("data_links", sa.JSON(), nullable=False),
        sa.Column("overall_rank", sa.String(20), nullable=False),
    )
    op.create_table(
        "challenge_files",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False, index=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("audience", sa.String(20), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("byte_count", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False, index=True),
        sa.Column("media_type", sa.String(100), nullable=False),
    )
    op.create_table(
        "challenge_invitations",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False),
        sa.Column("email", sa.String(254), nullable=False, index=True),
        _reference("invited_by_id", "users.id", ondelete="SET NULL"),
        sa.UniqueConstraint("challenge_id", "email"),
    )
    op.create_table(
        "challenge_organisers",
        _reference("challenge_id", "challenges.id", primary_key=True),
        _reference("user_id", "users.id", primary_key=True),
        sa.Column("is_owner", sa.Boolean(), nullable=False),
    )
    op.create_index(
        "ix_challenge_organisers_owner", "challenge_organisers", ["challenge_id"], unique=True, **_where("is_owner")
    )
    op.create_table(
        "edition_versions",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("made_current_at", INSTANT),
        sa.UniqueConstraint("challenge_id", "number"),
    )
    op.create_table(
        "leaderboard_revisions",
        _reference("challenge_id", "challenges.id", primary_key=True),
        sa.Column("revision", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "bans",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("user_id", "users.id", nullable=False),
        _reference("challenge_id", "challenges.id", index=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("email", sa.String(254)),
        sa.UniqueConstraint("user_id", "challenge_id"),
    )
    op.create_table(
        "phases",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False),
        sa.Column("key", sa.String(30), nullable=False),
        sa.Column("title", sa.String(100), nullable=False),
        sa.Column("competition_keys", sa.JSON(), nullable=False),
        sa.Column("image_set", sa.String(60)),
        _reference("truth_phase_id", "phases.id", ondelete=None, nullable=False),
        _later("current_scoring_id", "scorings.id"),
        sa.Column("opens_at", INSTANT),
        sa.Column("closes_at", INSTANT),
        sa.Column("quota_count", sa.Integer(), nullable=False),
        sa.Column("quota_period_seconds", sa.Integer(), nullable=False),
        sa.Column("shared_quota", sa.Boolean(), nullable=False),
        sa.Column("detail", sa.String(20), nullable=False),
        sa.Column("admission", sa.String(20), nullable=False),
        sa.Column("min_account_days", sa.Integer(), nullable=False),
        sa.Column("leaderboard_from", INSTANT),
        sa.Column("freeze", sa.String(20), nullable=False),
        sa.Column("freezes_at", INSTANT),
        sa.Column("anonymous_until", INSTANT),
        sa.Column("ladder_step", sa.Double()),
        sa.CheckConstraint("quota_count > 0", name="quota_count_positive"),
        sa.CheckConstraint("quota_period_seconds > 0", name="quota_period_positive"),
        sa.UniqueConstraint("challenge_id", "key"),
    )
    op.create_table(
        "phase_admissions",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        _reference("phase_id", "phases.id", nullable=False),
        sa.UniqueConstraint("phase_id", "email"),
    )
    op.create_table(
        "extra_quotas",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("until", INSTANT, nullable=False),
        sa.Column("reason", sa.String(500), nullable=False),
        _reference("phase_id", "phases.id", nullable=False),
        sa.CheckConstraint("count > 0", name="count_positive"),
    )
    op.create_index("ix_extra_quotas_person", "extra_quotas", ["phase_id", "email"])
    op.create_table(
        "ground_truth_versions",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        _reference("uploaded_by_id", "users.id", ondelete="SET NULL"),
        sa.Column("file_name", sa.String(255), nullable=False),
        sa.Column("state", sa.String(20), nullable=False, index=True),
        sa.Column("sha256", sa.String(64)),
        sa.Column("summary", sa.JSON()),
        sa.Column("competitions", sa.JSON()),
        sa.Column("problems", sa.JSON()),
        sa.Column("image_sets", sa.LargeBinary()),
        sa.Column("warnings", sa.JSON()),
        sa.Column("confirmed_at", INSTANT),
        _reference("confirmed_by_id", "users.id", ondelete="SET NULL"),
        _reference("phase_id", "phases.id", ondelete=None, nullable=False, index=True),
        sa.UniqueConstraint("challenge_id", "number"),
    )
    op.create_table(
        "scorings",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False, index=True),
        _reference("ground_truth_version_id", "ground_truth_versions.id", ondelete=None, nullable=False),
        sa.Column("edition_version", sa.Integer(), nullable=False),
        _reference("begun_with_id", "scorings.id"),
    )


def _submissions() -> None:
    """Methods, uploads and submissions."""
    op.create_table(
        "methods",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False),
        _reference("user_id", "users.id", nullable=False, index=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("paper_url", sa.String(500), nullable=False),
        sa.Column("code_url", sa.String(500), nullable=False),
        sa.UniqueConstraint("challenge_id", "user_id", "name"),
    )
    op.create_table(
        "uploads",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False, index=True),
        sa.Column("kind", sa.String(20), nullable=False),
        _reference("user_id", "users.id", nullable=False),
        sa.Column("address", sa.String(254), nullable=False),
        sa.Column("byte_count", sa.BigInteger(), nullable=False),
        sa.Column("lease_expires_at", INSTANT),
        _reference("challenge_id", "challenges.id", index=True),
        sa.Column("rejected_for", sa.JSON(none_as_null=True)),
    )
    op.create_index("ix_uploads_lease_expires_at", "uploads", ["lease_expires_at"])
    op.create_index("ix_uploads_user_kind", "uploads", ["user_id", "kind", "created_at"])
    op.create_table(
        "resumable_uploads",
        _reference("id", "uploads.id", primary_key=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False, index=True),
        _reference("user_id", "users.id", nullable=False, index=True),
        _reference("challenge_id", "challenges.id", nullable=False, index=True),
        sa.Column("is_rehearsal", sa.Boolean(), nullable=False),
        sa.Column("client_metadata", sa.String(2000), nullable=False),
        sa.Column("byte_count", sa.BigInteger(), nullable=False),
        sa.Column("received_bytes", sa.BigInteger(), nullable=False),
        sa.Column("part_count", sa.Integer(), nullable=False),
        sa.Column("receiving_seconds", sa.Double(), nullable=False, server_default="0"),
        sa.Column("validation_count", sa.Integer(), nullable=False, server_default="0"),
        _reference("phase_id", "phases.id", nullable=False),
    )
    op.create_table(
        "submissions",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False, index=True),
        _reference("user_id", "users.id", ondelete=None, nullable=False),
        _reference("method_id", "methods.id", ondelete=None, nullable=False, index=True),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("contributors", sa.String(1000), nullable=False),
        sa.Column("affiliation", sa.String(200), nullable=False),
        sa.Column("flickr_count", sa.Integer(), nullable=False),
        sa.Column("flickr_hashes", sa.LargeBinary()),
        sa.Column("segmentation_classes", sa.JSON()),
        sa.Column("archive_sha256", sa.String(64), nullable=False, index=True),
        sa.Column("archive_bytes", sa.Integer(), nullable=False),
        sa.Column("archive_name", sa.String(255), nullable=False),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("queued_at", INSTANT, nullable=False),
        sa.Column("claimed_at", INSTANT),
        sa.Column("finished_at", INSTANT),
        sa.Column("failure", sa.Text()),
        sa.Column("failure_detail", sa.Text()),
        sa.Column("quota_returned_at", INSTANT),
        sa.Column("published_at", INSTANT),
        sa.Column("anonymous_token_hash", sa.LargeBinary(), unique=True),
        sa.Column("columns_sha256", sa.String(64), index=True),
        sa.Column("columns_reader", sa.Integer()),
        _later("current_evaluation_id", "evaluations.id"),
        sa.Column("held_back_at", INSTANT),
        sa.Column("moderation_reason", sa.Text()),
        sa.Column("published_before", INSTANT),
        sa.Column("began_at", INSTANT, nullable=False),
        sa.Column("publish_when_scored", sa.Boolean(), nullable=False),
        sa.Column("is_rehearsal", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("has_archive", sa.Boolean(), nullable=False),
        sa.Column("disqualified_at", INSTANT),
        _reference("phase_id", "phases.id", ondelete=None, nullable=False, index=True),
        sa.Column("declarations", sa.JSON(), nullable=False),
    )
    op.create_index("ix_submissions_published", "submissions", ["phase_id"], **_where("published_at IS NOT NULL"))
    op.create_index("ix_submissions_queue", "submissions", ["state", "queued_at"])
    op.create_index("ix_submissions_user_challenge", "submissions", ["user_id", "challenge_id", "created_at"])
    op.create_table(
        "submission_entries",
        _reference("submission_id", "submissions.id", primary_key=True),
        sa.Column("competition", sa.String(30), primary_key=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("classes", sa.JSON(), nullable=False),
        sa.Column("is_private", sa.Boolean(), nullable=False),
        sa.Column("published_at", INSTANT),
    )
    op.create_table(
        "idempotency_keys",
        _reference("user_id", "users.id", primary_key=True),
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("created_at", INSTANT, nullable=False, index=True),
        sa.Column("request_sha256", sa.String(64), nullable=False),
        _reference("submission_id", "submissions.id", nullable=False, index=True),
    )


def _evaluations() -> None:
    """Scores; `secret_` tables reveal the ground truth, and only workers may read them."""
    op.create_table(
        "evaluations",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("submission_id", "submissions.id", nullable=False),
        _reference("scoring_id", "scorings.id", ondelete=None, nullable=False, index=True),
        sa.Column("evaluator_version", sa.String(30), nullable=False),
        sa.Column("ground_truth_sha256", sa.String(64), nullable=False),
        sa.Column("archive_sha256", sa.String(64), nullable=False),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.UniqueConstraint("submission_id", "scoring_id"),
    )
    op.create_table(
        "competition_results",
        _id(),
        _reference("evaluation_id", "evaluations.id", nullable=False),
        sa.Column("competition", sa.String(30), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("task", sa.String(30), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("not_entered", sa.JSON(), nullable=False),
        sa.UniqueConstraint("evaluation_id", "competition"),
    )
    op.create_table(
        "measures",
        _id(),
        _reference("result_id", "competition_results.id", nullable=False),
        sa.Column("metric", sa.String(60), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("mean", sa.Double()),
        sa.Column("mean_over", sa.Integer(), nullable=False),
        sa.UniqueConstraint("result_id", "metric"),
    )
    op.create_table(
        "class_scores",
        _reference("measure_id", "measures.id", primary_key=True),
        sa.Column("class_name", sa.String(60), primary_key=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double()),
    )
    op.create_table(
        "curves",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("class_name", sa.String(60), primary_key=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(30), nullable=False),
        sa.Column("values", sa.JSON(), nullable=False),
    )
    op.create_table(
        "confusion_shares",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("shares", sa.JSON(), nullable=False),
        sa.Column("steps", sa.JSON(none_as_null=True)),
    )
    op.create_table(
        "diagnosis_shares",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("shares", sa.JSON(), nullable=False),
    )
    op.create_table(
        "public_confusion_matrices",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("counts", sa.JSON(), nullable=False),
    )
    op.create_table(
        "public_curves",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("class_name", sa.String(60), primary_key=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(30), nullable=False),
        sa.Column("points", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "public_diagnoses",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
    )
    op.create_table(
        "secret_confusion_matrices",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("counts", sa.JSON(), nullable=False),
    )
    op.create_table(
        "secret_curves",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("class_name", sa.String(60), primary_key=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(30), nullable=False),
        sa.Column("points", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "secret_diagnoses",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
    )
    op.create_table(
        "secret_evidence",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "secret_replicates",
        _reference("result_id", "competition_results.id", primary_key=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "showcase_drawings",
        _reference("submission_id", "submissions.id", primary_key=True),
        sa.Column("basis", sa.String(64), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
    )


def _leaderboards() -> None:
    """Frozen leaderboards, re-scores, and statistics."""
    op.create_table(
        "frozen_leaderboards",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False),
        sa.Column("competition", sa.String(30), nullable=False),
        sa.Column("frozen_at", INSTANT, nullable=False),
        sa.Column("is_final", sa.Boolean(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        _reference("phase_id", "phases.id", nullable=False),
        sa.UniqueConstraint("phase_id", "competition", "frozen_at", name="uq_frozen_leaderboards_copy"),
    )
    op.create_table(
        "rescores",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False),
        _reference("ground_truth_version_id", "ground_truth_versions.id", nullable=False),
        _reference("submission_id", "submissions.id"),
        sa.Column("reason", sa.Text(), nullable=False),
        _reference("started_by_id", "users.id", ondelete="SET NULL"),
        sa.Column("state", sa.String(20), nullable=False, index=True),
        sa.Column("apply_requested_at", INSTANT),
        _reference("apply_requested_by_id", "users.id", ondelete="SET NULL"),
        sa.Column("finished_at", INSTANT),
        _reference("scoring_id", "scorings.id", ondelete=None),
        sa.Column("evaluator_version", sa.String(30)),
        sa.Column("report", sa.JSON()),
        sa.Column("report_revision", sa.BigInteger()),
        sa.Column("failure", sa.Text()),
        sa.Column("edition_version", sa.Integer(), nullable=False),
        sa.Column("edition_changes", sa.JSON(none_as_null=True)),
    )
    op.create_index("ix_rescores_challenge_id_created_at", "rescores", ["challenge_id", "created_at"])
    op.create_table(
        "rescore_items",
        _reference("rescore_id", "rescores.id", primary_key=True),
        _reference("submission_id", "submissions.id", primary_key=True),
        sa.Column("finished_at", INSTANT),
        sa.Column("failure", sa.Text()),
        sa.Column("failure_detail", sa.Text()),
        sa.Column("batch_id", sa.Uuid(), index=True),
    )
    op.create_index("ix_rescore_items_waiting", "rescore_items", ["rescore_id", "finished_at"])
    op.create_table(
        "statistics_updates",
        _reference("challenge_id", "challenges.id", primary_key=True),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", INSTANT),
        sa.Column("failure", sa.Text()),
    )
    op.create_table(
        "board_statistics",
        _id(),
        sa.Column("created_at", INSTANT, nullable=False),
        _reference("challenge_id", "challenges.id", nullable=False),
        sa.Column("competition", sa.String(30), nullable=False),
        sa.Column("frozen_at", INSTANT),
        sa.Column("methods_sha256", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        _reference("phase_id", "phases.id", nullable=False),
    )
    op.create_index("ix_board_statistics_board", "board_statistics", ["phase_id", "competition"])
    op.create_table(
        "board_agreements",
        _reference("statistics_id", "board_statistics.id", primary_key=True),
        sa.Column("content", sa.JSON(), nullable=False),
    )
    op.create_table(
        "board_differences",
        _reference("statistics_id", "board_statistics.id", primary_key=True),
        sa.Column("class_name", sa.String(60), primary_key=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "image_set_comparisons",
        sa.Column("competition", sa.String(30), nullable=False),
        sa.Column("other", sa.String(30), nullable=False),
        sa.Column("methods_sha256", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        _reference("phase_id", "phases.id", nullable=False),
        sa.PrimaryKeyConstraint("phase_id", "competition", "other"),
    )
    op.create_table(
        "submission_sequences",
        _reference("challenge_id", "challenges.id", nullable=False),
        _reference("user_id", "users.id", nullable=False),
        sa.Column("submissions", sa.Integer(), nullable=False),
        sa.Column("latest_at", INSTANT, nullable=False),
        sa.Column("decimals", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("is_due", sa.Boolean(), nullable=False, index=True),
        sa.Column("computed_at", INSTANT),
        sa.Column("content", sa.JSON()),
        _reference("phase_id", "phases.id", nullable=False),
        sa.PrimaryKeyConstraint("phase_id", "user_id"),
    )
