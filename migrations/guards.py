"""What the web process may not write in rows that it may otherwise add or change, where it has a role of its own.

Privileges are for tables and columns; here the values decide. Triggers check them, on PostgreSQL: the web process does
not own the tables, so it cannot switch them off. Made anew after every migration, like the privileges.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text


@dataclass(frozen=True, slots=True)
class Guard:
    """Conditions, in SQL, on the rows of one table that a role adds (NEW) and changes (OLD, NEW).

    Attributes:
        adding: what has to be true of every row that is added.
        unchanged: columns that keep their value for good.
        changing: what has to be true of every row that is changed.
    """

    adding: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()

    def permits(self) -> tuple[str, str]:
        """The conditions for adding and for changing."""
        kept = (f"NEW.{column} IS NOT DISTINCT FROM OLD.{column}" for column in self.unchanged)
        return " AND ".join(self.adding) or "true", " AND ".join((*kept, *self.changing)) or "true"


# The worker says what has become of ground truth and submissions, and which scores count.
WEB_GUARDS: Mapping[str, Guard] = {
    "challenges": Guard(
        adding=("NEW.current_scoring_id IS NULL",),
        unchanged=("id", "current_scoring_id"),
    ),
    "ground_truth_versions": Guard(
        adding=(
            "NEW.state = 'uploaded'",
            "NEW.attempts = 0",
            *(
                f"NEW.{column} IS NULL"
                for column in ("lease_id", "sha256", "summary", "competitions", "problems", "image_sets")
            ),
        ),
    ),
    "submissions": Guard(
        adding=("NEW.state = 'queued'", "NEW.attempts = 0", "NEW.lease_id IS NULL", "NEW.finished_at IS NULL"),
        unchanged=("id", "created_at", "challenge_id", "user_id", "archive_sha256", "archive_bytes", "attempts"),
        changing=(
            "(NEW.state = OLD.state OR NEW.state NOT IN ('evaluating', 'scored', 'failed'))",
            "(NEW.lease_id IS NULL OR NEW.lease_id IS NOT DISTINCT FROM OLD.lease_id)",
            "(OLD.quota_returned_at IS NULL OR NEW.quota_returned_at IS NOT NULL)",
        ),
    ),
}


def install(connection: Connection, role: str, guards: Mapping[str, Guard] = WEB_GUARDS) -> None:
    """Make the triggers anew; what a guard forbids fails with the error of a missing privilege (42501)."""
    for table, guard in guards.items():
        adding, changing = guard.permits()
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
                        ELSIF ({changing}) IS NOT TRUE THEN
                            RAISE insufficient_privilege USING MESSAGE = '{role} may not change {table} like that';
                        END IF;
                    END IF;
                    RETURN NEW;
                END
                $guard$
                """
            )
        )
        connection.execute(text(f"DROP TRIGGER IF EXISTS {function} ON {table}"))
        connection.execute(
            text(
                f"CREATE TRIGGER {function} BEFORE INSERT OR UPDATE ON {table} "
                f"FOR EACH ROW EXECUTE FUNCTION {function}()"
            )
        )
