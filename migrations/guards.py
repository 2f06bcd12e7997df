"""Restrictions on the values that a process with its own database role may write.

Privileges only apply to tables and columns; these restrictions depend on values. They are triggers, on PostgreSQL. The
processes do not own the tables, so they cannot disable them. They are recreated after every migration, like the
privileges.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text


@dataclass(frozen=True, slots=True)
class Guard:
    """Conditions, in SQL, on the rows of one table that a role adds (NEW), changes (OLD, NEW) and deletes (OLD).

    Attributes:
        adding: conditions on every added row.
        unchanged: columns whose values cannot be changed.
        changing: conditions on every changed row.
        deleting: conditions on every deleted row.
    """

    adding: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()
    deleting: tuple[str, ...] = ()

    def permits(self) -> tuple[str, str, str]:
        """Return the conditions for adding, changing and deleting."""
        kept = (f"NEW.{column} IS NOT DISTINCT FROM OLD.{column}" for column in self.unchanged)
        return (
            " AND ".join(self.adding) or "true",
            " AND ".join((*kept, *self.changing)) or "true",
            " AND ".join(self.deleting) or "true",
        )


def _is_scored(challenge: str) -> str:
    """SQL: the server has scored a phase of this challenge."""
    return f"EXISTS (SELECT FROM phases WHERE phases.challenge_id = {challenge} AND current_scoring_id IS NOT NULL)"


def _imported(challenge: str) -> str:
    """SQL: this challenge is an import, of which the server itself has scored no phase."""
    is_import = f"EXISTS (SELECT FROM challenges WHERE id = {challenge} AND imported_at IS NOT NULL)"
    return f"({is_import} AND NOT {_is_scored(challenge)})"


def _of_import(joined: str, condition: str) -> Guard:
    """Scores are the worker's to add, but for those of imported challenges, which come with the import.

    Args:
        joined: SQL that leads from `submissions` to the table that the new row refers to.
        condition: SQL, on that table.
    """
    found = f"SELECT FROM submissions {joined} WHERE {condition} AND {_imported('submissions.challenge_id')}"
    return Guard(adding=(f"EXISTS ({found})",))


_EVALUATIONS = "JOIN evaluations ON evaluations.submission_id = submissions.id"
_RESULTS = f"{_EVALUATIONS} JOIN competition_results ON competition_results.evaluation_id = evaluations.id"
_MEASURES = f"{_RESULTS} JOIN measures ON measures.result_id = competition_results.id"
_OF_A_RESULT = _of_import(_RESULTS, "competition_results.id = NEW.result_id")
# At `everything` the worker copies exact curves to where the web process can read them.
_HAS_PHASE = "EXISTS (SELECT FROM phases WHERE id = NEW.phase_id AND challenge_id = NEW.challenge_id)"
_REVEALS_NOTHING = "(NEW.detail <> 'everything' OR NEW.current_scoring_id IS NULL)"

# Deleting an account removes names from what does not change otherwise; see `app.participating.leaving`.
_NAMES = " - ".join(
    ["one", *(f"'{name}'" for name in ("contributors", "team", "affiliation", "paper_url", "code_url"))]
)


def _without_names(row: str) -> str:
    """SQL: the entries of a frozen leaderboard without names."""
    entries = f"jsonb_array_elements({row}.content::jsonb -> 'entries') WITH ORDINALITY AS entries (one, number)"
    return f"(SELECT jsonb_agg({_NAMES} ORDER BY number) FROM {entries})"  # noqa: S608


_ONLY_NAMES = (
    "NEW.is_final AND NEW.content::jsonb - 'entries' = OLD.content::jsonb - 'entries'"
    f" AND {_without_names('NEW')} IS NOT DISTINCT FROM {_without_names('OLD')}"
)


def _values(row: str) -> str:
    """SQL: everything in the details of an event, by path; objects and lists, and what is in them."""
    inner = (
        "SELECT key, value FROM jsonb_each(CASE jsonb_typeof(value) WHEN 'object' THEN value ELSE '{}' END)"
        " UNION ALL SELECT (number - 1)::text, item"
        " FROM jsonb_array_elements(CASE jsonb_typeof(value) WHEN 'array' THEN value ELSE '[]' END)"
        " WITH ORDINALITY AS items (item, number)"
    )
    return (
        f"WITH RECURSIVE found (path, value) AS (SELECT ARRAY[]::text[], {row}.details::jsonb"  # noqa: S608
        f" UNION ALL SELECT path || inside.key, inside.value FROM found, LATERAL ({inner}) AS inside (key, value))"
    )


_IN_NEW = "NEW.details::jsonb #> path"
_ONLY_REMOVED = (
    f"NOT EXISTS ({_values('OLD')} SELECT FROM found WHERE CASE jsonb_typeof(value)"  # noqa: S608
    f" WHEN 'object' THEN jsonb_typeof({_IN_NEW}) IS DISTINCT FROM 'object'"
    f" WHEN 'array' THEN jsonb_typeof({_IN_NEW}) IS DISTINCT FROM 'array'"
    # `app.accounts.removal.DELETED_NAME`
    f" ELSE {_IN_NEW} IS DISTINCT FROM value AND {_IN_NEW} IS DISTINCT FROM '\"Deleted account\"' END)"
)
_SAME_DETAILS = " = ".join(f"({_values(row)} SELECT count(*) FROM found)" for row in ("NEW", "OLD"))  # noqa: S608

# Only the worker sets the outcome of ground truth and submissions, and the current scoring.
WEB_GUARDS: Mapping[str, Guard] = {
    "challenges": Guard(
        adding=("(NEW.edition_version = 1 OR NEW.imported_at IS NOT NULL)",),
        unchanged=("id", "imported_at", "edition_version"),
        changing=(
            # The rules that submissions are scored by are changed by the worker, together with the scores.
            "(NEW.edition = OLD.edition AND NEW.edition_file IS NOT DISTINCT FROM OLD.edition_file"
            f" OR NOT {_is_scored('OLD.id')})",
        ),
        deleting=(
            "OLD.visibility = 'draft'",
            "NOT EXISTS (SELECT FROM submissions WHERE challenge_id = OLD.id)",
        ),
    ),
    "phases": Guard(
        adding=(
            # A new phase has its own ground truth, or that of another one with its current scoring.
            "(NEW.truth_phase_id = NEW.id AND NEW.current_scoring_id IS NULL OR EXISTS (SELECT FROM phases"
            " WHERE id = NEW.truth_phase_id AND challenge_id = NEW.challenge_id"
            " AND current_scoring_id IS NOT DISTINCT FROM NEW.current_scoring_id))",
            _REVEALS_NOTHING,
        ),
        unchanged=("id", "challenge_id", "key", "image_set", "truth_phase_id", "current_scoring_id"),
        changing=(f"(OLD.detail = 'everything' OR {_REVEALS_NOTHING})",),
        deleting=("OLD.key <> 'main'", "(OLD.current_scoring_id IS NULL OR OLD.truth_phase_id <> OLD.id)"),
    ),
    # Later versions are proposed; the worker says which becomes current. The current one is stored as it is.
    "edition_versions": Guard(
        adding=(
            "EXISTS (SELECT FROM challenges WHERE id = NEW.challenge_id AND (NEW.number > edition_version"
            " OR NEW.number = edition_version AND NEW.file = edition_file)"
            f" OR {_imported('NEW.challenge_id')})",
            f"(NEW.made_current_at IS NULL OR {_imported('NEW.challenge_id')})",
        ),
    ),
    "frozen_leaderboards": Guard(
        unchanged=("id", "challenge_id", "phase_id", "competition", "frozen_at"),
        changing=(f"(NOT OLD.is_final OR {_ONLY_NAMES})",),
    ),
    "audit_events": Guard(changing=(_ONLY_REMOVED, _SAME_DETAILS)),
    "ground_truth_versions": Guard(
        adding=(
            f"(NEW.state = 'uploaded' OR (NEW.state = 'elsewhere' AND {_imported('NEW.challenge_id')}))",
            _HAS_PHASE,
            *(
                f"NEW.{column} IS NULL"
                for column in (
                    "sha256",
                    "summary",
                    "competitions",
                    "problems",
                    "warnings",
                    "confirmed_at",
                    "image_sets",
                )
            ),
        ),
        changing=("OLD.state = 'ready'", "OLD.confirmed_at IS NULL"),
        deleting=("OLD.state = 'failed'",),
    ),
    "outbox": Guard(
        changing=("NEW.is_forgotten",),
        deleting=("EXISTS (SELECT FROM jobs WHERE kind = 'mail' AND key = OLD.id AND finished_at IS NOT NULL)",),
    ),
    # It adds and cancels work; only workers claim jobs, and say what became of them.
    "jobs": Guard(
        adding=(
            "NEW.kind IN ('freeze', 'mail', 'import', 'evaluation', 'rescore', 'diagnosis')",
            "NEW.attempts = 0",
            *(f"NEW.{column} IS NULL" for column in ("lease_id", "claimed_at", "finished_at", "failure", "detail")),
        ),
        unchanged=("id", "created_at", "kind", "key", "owner", "turn", "claimed_at"),
        changing=(
            "NEW.attempts = 0",
            *(f"NEW.{column} IS NULL" for column in ("lease_id", "finished_at", "failure", "detail")),
        ),
        deleting=("OLD.kind IN ('freeze', 'evaluation')", "OLD.finished_at IS NULL"),
    ),
    # An organiser starts a re-score, and says what becomes of it. The worker evaluates, and carries out the switch.
    "rescores": Guard(
        adding=(
            "(NEW.state = 'running' AND NEW.evaluator_version IS NULL"
            f" OR NEW.state = 'applied' AND {_imported('NEW.challenge_id')})",
            *(f"NEW.{column} IS NULL" for column in ("apply_requested_at", "scoring_id", "report", "report_summary")),
            "NEW.report_revision IS NULL",
        ),
        changing=(
            "OLD.state IN ('running', 'ready')",
            "NEW.state IN (OLD.state, 'discarded')",
            "(NEW.apply_requested_at IS NULL OR OLD.state = 'ready')",
        ),
    ),
    "scorings": Guard(adding=(_imported("NEW.challenge_id"),)),
    "evaluations": _of_import("", "submissions.id = NEW.submission_id"),
    "competition_results": _of_import(_EVALUATIONS, "evaluations.id = NEW.evaluation_id"),
    "measures": _OF_A_RESULT,
    "class_scores": _of_import(_MEASURES, "measures.id = NEW.measure_id"),
    "curves": _OF_A_RESULT,
    "confusion_shares": _OF_A_RESULT,
    "submissions": Guard(
        adding=(
            _HAS_PHASE,
            "NEW.current_evaluation_id IS NULL",
            "((NEW.state = 'queued' AND NEW.finished_at IS NULL)"
            f" OR (NEW.state <> 'evaluating' AND NEW.columns_sha256 IS NULL AND {_imported('NEW.challenge_id')}))",
        ),
        unchanged=(
            "id",
            "created_at",
            "challenge_id",
            "phase_id",
            "began_at",
            "is_rehearsal",
            "user_id",
            "archive_sha256",
            "archive_bytes",
            "has_archive",
            "columns_sha256",
            "columns_reader",
        ),
        changing=(
            # Lifting a disqualification makes scored again what the worker has scored; organisers may fail what they
            # could disqualify, as long as the quota is given back.
            "(NEW.state = OLD.state OR NEW.state NOT IN ('evaluating', 'scored', 'failed')"
            " OR (NEW.state = 'scored' AND OLD.state = 'disqualified'"
            " AND EXISTS (SELECT FROM evaluations WHERE submission_id = NEW.id))"
            " OR (NEW.state = 'failed' AND NEW.quota_returned_at IS NOT NULL))",
            "(NEW.current_evaluation_id IS NOT DISTINCT FROM OLD.current_evaluation_id"
            f" OR (OLD.current_evaluation_id IS NULL AND {_imported('NEW.challenge_id')} AND EXISTS"
            " (SELECT FROM evaluations WHERE id = NEW.current_evaluation_id AND submission_id = NEW.id)))",
            "(OLD.quota_returned_at IS NULL OR NEW.quota_returned_at IS NOT NULL)",
        ),
        deleting=(
            "OLD.is_rehearsal",
            "EXISTS (SELECT FROM challenges WHERE id = OLD.challenge_id AND visibility = 'draft')",
        ),
    ),
}

# The mail worker may only write its own kind of heartbeat. It marks what people are told as mailed, never as waiting,
# because it sees the addresses of those for whom something waits.
MAIL_GUARDS: Mapping[str, Guard] = {
    "notifications": Guard(changing=("NEW.mailed_at IS NOT NULL",)),
    "worker_heartbeats": Guard(
        adding=("NEW.kind = 'mail'",),
        unchanged=("id", "kind"),
        changing=("OLD.kind = 'mail'",),
        deleting=("OLD.kind = 'mail'",),
    ),
}


def install(connection: Connection, role: str, guards: Mapping[str, Guard]) -> None:
    """Recreate the triggers. Forbidden changes fail with the error of a missing privilege (42501)."""
    for table, guard in guards.items():
        adding, changing, deleting = guard.permits()
        function = f"guard_{table}_against_{role}"
        connection.execute(
            text(
                f"""
                CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $guard$
                BEGIN
                    IF current_user = '{role}' THEN
                        IF TG_OP = 'INSERT' THEN
                            IF ({adding}) IS NOT TRUE THEN
                                RAISE insufficient_privilege USING MESSAGE = '{role} may not add such {table}';
                            END IF;
                        ELSIF TG_OP = 'DELETE' THEN
                            IF ({deleting}) IS NOT TRUE THEN
                                RAISE insufficient_privilege USING MESSAGE = '{role} may not delete such {table}';
                            END IF;
                        ELSIF ({changing}) IS NOT TRUE THEN
                            RAISE insufficient_privilege USING MESSAGE = '{role} may not change {table} like that';
                        END IF;
                    END IF;
                    IF TG_OP = 'DELETE' THEN
                        RETURN OLD;
                    END IF;
                    RETURN NEW;
                END
                $guard$
                """
            )
        )
        events = "INSERT OR UPDATE OR DELETE" if guard.deleting else "INSERT OR UPDATE"
        connection.execute(text(f"DROP TRIGGER IF EXISTS {function} ON {table}"))
        connection.execute(
            text(f"CREATE TRIGGER {function} BEFORE {events} ON {table} FOR EACH ROW EXECUTE FUNCTION {function}()")
        )
