"""Privileges of the web and worker processes in PostgreSQL, where they have their own roles.

The operator creates the roles (docker-compose.yml does); none of them owns the tables. Privileges are set again after
every migration, so the table below is complete.
"""

from collections.abc import Mapping

from sqlalchemy import Connection, text

from vocboard.app.jobs.models import MAIL_KINDS
from vocboard.app.notifications.emails import RECORD_LIFETIME
from vocboard.migrations import guards

WEB_ROLE = "vocboard_web"
WORKER_ROLE = "vocboard_worker"
MAIL_ROLE = "vocboard_mail"

NONE: tuple[str, ...] = ()
READ = ("SELECT",)
ADD = ("SELECT", "INSERT")
ADD_AND_DELETE = ("SELECT", "INSERT", "DELETE")
CHANGE = ("SELECT", "INSERT", "UPDATE")
ALL = ("SELECT", "INSERT", "UPDATE", "DELETE")

# The web process adds submissions; it can read scores, and add them only with an imported challenge.
WEB: Mapping[str, tuple[str, ...]] = {
    "users": CHANGE,
    "sessions": ALL,
    "api_tokens": ALL,
    "kept_answers": ALL,
    "email_links": ALL,
    "second_factors": ALL,
    # Not the texts, which contain secrets of links; it deletes within its guard.
    "outbox": (
        "SELECT (id, created_at, recipient, subject, expires_at, error)",
        "INSERT",
        "UPDATE (is_forgotten)",
        "DELETE",
    ),
    "security_keys": ALL,
    "identities": ALL,
    "notifications": ("SELECT", "INSERT", "UPDATE (title, text, read_at)", "DELETE"),
    "notification_settings": ALL,
    "webhooks": ("SELECT", "INSERT", "DELETE"),
    "webhook_deliveries": ADD,
    "attempts": ALL,
    "audit_events": (*ADD, "UPDATE (details)"),  # within its guard: names of deleted accounts are replaced
    "challenges": ALL,
    "challenge_organisers": ALL,
    "phases": ALL,
    "challenge_files": ADD_AND_DELETE,
    "announcements": ALL,
    "questions": ALL,
    "edition_versions": ADD,
    "phase_admissions": ALL,
    "admission_requests": ALL,
    "challenge_terms": ADD,
    "terms_acceptances": ADD_AND_DELETE,
    "extra_quotas": ALL,
    "frozen_leaderboards": CHANGE,  # within its guard: until they are final
    "ground_truth_versions": ("SELECT", "INSERT", "UPDATE (confirmed_at, confirmed_by_id)", "DELETE"),
    "challenge_invitations": ALL,
    "bans": ALL,
    "scorings": ADD,  # this and the scores below: of imported challenges alone, see `guards`
    "teams": ALL,
    "team_members": ALL,
    "team_invitations": ALL,
    "methods": CHANGE,
    "submission_people": ADD_AND_DELETE,
    "submissions": ALL,  # it deletes rehearsals with their draft, see `guards`
    "submission_entries": ALL,
    "idempotency_keys": ALL,
    "uploads": ALL,
    "resumable_uploads": ALL,
    "reported_results": ALL,
    "rescores": ("SELECT", "INSERT", "UPDATE (state, finished_at, reason, apply_requested_at, apply_requested_by_id)"),
    "rescore_items": READ,
    "evaluations": ADD,
    "competition_results": ADD,
    "measures": ADD,
    "class_scores": ADD,
    "leaderboard_revisions": READ,  # triggers change it
    "curves": ADD,
    "worker_heartbeats": READ,
    "confusion_shares": ADD,
    "diagnosis_shares": READ,
    # Data that reveal the ground truth; the worker makes copies for challenges with public ground truth.
    "secret_curves": NONE,
    "secret_confusion_matrices": NONE,
    "secret_diagnoses": NONE,
    # Within its guard, and without errors, which are the operator's.
    "jobs": (
        "SELECT (id, created_at, kind, key, priority, owner, turn, not_before, lease_id, claimed_at, attempts,"
        " finished_at, failure)",
        "INSERT",
        "UPDATE (priority, not_before, lease_id, attempts, finished_at, failure, detail)",
        "DELETE",
    ),
    "secret_evidence": NONE,
    "secret_replicates": NONE,
    "statistics_updates": NONE,
    "board_statistics": READ,
    "board_differences": READ,
    "board_agreements": READ,
    "image_set_comparisons": READ,
    "showcase_drawings": READ,
    "submission_sequences": READ,
    "public_curves": READ,
    "public_confusion_matrices": READ,
    "public_diagnoses": READ,
    "alembic_version": READ,
}

# The worker scores and has no access to users. Evaluations are added and never changed.
WORKER: Mapping[str, tuple[str, ...]] = {
    "audit_events": ("INSERT",),  # which has names, email addresses and networks of people
    "notifications": ("SELECT (user_id, once_key)", "INSERT"),
    "webhooks": ("SELECT (id, user_id, challenge_id, events, off_because)",),
    "webhook_deliveries": ("INSERT",),
    "bans": ("SELECT (id, user_id, challenge_id)",),  # of results that are published as soon as they are scored
    "challenges": ("SELECT", "UPDATE (edition_file, edition_version)"),
    "edition_versions": ("SELECT", "UPDATE (made_current_at)"),
    "phases": ("SELECT", "UPDATE (current_scoring_id)"),
    "frozen_leaderboards": CHANGE,
    "ground_truth_versions": ("SELECT", "UPDATE"),
    "rescores": ("SELECT", "UPDATE"),
    "rescore_items": CHANGE,
    "leaderboard_revisions": READ,
    "scorings": ADD,
    "teams": READ,
    "team_members": READ,
    "submission_people": READ,
    "methods": READ,
    "submissions": ("SELECT", "UPDATE"),
    "submission_entries": READ,
    "evaluations": ADD,
    "competition_results": ADD,
    "measures": ADD,
    "class_scores": ADD,
    "curves": ADD,
    "worker_heartbeats": ALL,
    "confusion_shares": ADD,
    "diagnosis_shares": ADD,
    "secret_curves": ADD,
    "secret_confusion_matrices": ADD,
    "secret_diagnoses": ADD,
    "jobs": ALL,
    "secret_evidence": ALL,
    "secret_replicates": ALL,
    "statistics_updates": CHANGE,
    "board_statistics": ADD_AND_DELETE,
    "board_differences": ADD_AND_DELETE,
    "board_agreements": ADD_AND_DELETE,
    "image_set_comparisons": ADD_AND_DELETE,
    "challenge_files": ("SELECT (challenge_id, kind, name)",),  # which images its showcase has
    "showcase_drawings": ALL,
    "submission_sequences": ALL,
    "public_curves": ADD_AND_DELETE,
    "public_confusion_matrices": ADD_AND_DELETE,
    "public_diagnoses": ADD_AND_DELETE,
    "alembic_version": READ,
}

# The mail worker can reach the internet, so it can only access outgoing email, what it makes of it, its jobs and
# heartbeats.
MAIL: Mapping[str, tuple[str, ...]] = {
    "users": ("SELECT (id, email, email_confirmed_at, disabled_at)",),
    "notifications": ("SELECT", "UPDATE (mailed_at)", "DELETE"),
    "notification_settings": ADD,
    "outbox": ("SELECT", "INSERT", "UPDATE (body, error)", "DELETE"),
    "webhooks": ("SELECT", "UPDATE (off_because)"),
    "webhook_deliveries": ("SELECT", "UPDATE", "DELETE"),
    "jobs": ALL,  # within `JOBS_OF_ROLE`: of email
    "worker_heartbeats": ALL,  # within its guard: its own kind
    "alembic_version": READ,
}

# Row level security: each worker sees its own kinds of jobs. It does not apply to the owner of the tables.
_OF_MAIL = "kind IN (" + ", ".join(f"'{kind}'" for kind in sorted(MAIL_KINDS)) + ")"
JOBS_OF_ROLE = (
    f"CASE current_user WHEN '{MAIL_ROLE}' THEN {_OF_MAIL} WHEN '{WORKER_ROLE}' THEN NOT {_OF_MAIL} ELSE true END"
)

# What roles see of tables about people. The mail worker sees the addresses of those whom it has to write to now, and
# whose webhooks it serves; and what people are told until it is mailed (a changed row has to be visible before and
# after), and once it is to be deleted.
PEOPLE_OF_ROLE: Mapping[str, Mapping[str, str]] = {
    "users": {
        WEB_ROLE: "true",
        MAIL_ROLE: "EXISTS (SELECT FROM notifications WHERE user_id = users.id AND mailed_at IS NULL)"
        " OR EXISTS (SELECT FROM webhooks WHERE user_id = users.id)",
    },
    "notifications": {
        WEB_ROLE: "true",
        WORKER_ROLE: "true",
        MAIL_ROLE: "mailed_at IS NULL OR mailed_at > now() - interval '1 hour'"
        f" OR created_at <= now() - interval '{RECORD_LIFETIME.days} days'",
    },
}

ROLES: Mapping[str, Mapping[str, tuple[str, ...]]] = {WEB_ROLE: WEB, WORKER_ROLE: WORKER, MAIL_ROLE: MAIL}


def grant(connection: Connection) -> None:
    """Give the roles that exist exactly the privileges above, within what `guards` permits, on PostgreSQL."""
    guards.install(connection, WEB_ROLE, guards.WEB_GUARDS)
    guards.install(connection, MAIL_ROLE, guards.MAIL_GUARDS)
    connection.execute(text("ALTER TABLE jobs ENABLE ROW LEVEL SECURITY"))
    connection.execute(text("DROP POLICY IF EXISTS jobs_of_role ON jobs"))
    connection.execute(text(f"CREATE POLICY jobs_of_role ON jobs USING ({JOBS_OF_ROLE})"))
    for table in PEOPLE_OF_ROLE:
        connection.execute(text(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"))
    existing = set(connection.scalars(text("SELECT rolname FROM pg_roles")))
    for role, tables in ROLES.items():
        if role not in existing:
            continue
        connection.execute(text(f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}"))
        for table, allowed in tables.items():
            if not allowed:
                continue
            connection.execute(text(f"GRANT {', '.join(allowed)} ON {table} TO {role}"))
        for table, conditions in PEOPLE_OF_ROLE.items():
            if condition := conditions.get(role):
                connection.execute(text(f"DROP POLICY IF EXISTS people_of_{role} ON {table}"))
                connection.execute(text(f"CREATE POLICY people_of_{role} ON {table} TO {role} USING ({condition})"))
