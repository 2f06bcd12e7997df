"""Give challenges a detail level, and put what can be decoded where the web cannot read it.

Revision: 2026_11_21_detail_levels
Follows: 2026_11_21_worker_heartbeats

Exact curves and confusion matrices move; what is shown in their place is computed from them.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from vocboard.app.evaluations.curves import unpack
from vocboard.app.evaluations.eleven_points import DECIMALS, eleven_points
from vocboard.app.evaluations.rounding import row_shares
from vocboard.evaluator.scores import CurveKind

revision = "2026_11_21_detail_levels"
down_revision = "2026_11_21_worker_heartbeats"
branch_labels = None
depends_on = None

BATCH = 1000  # rows that are fetched at once
LEVELS = ("mean", "classes", "curves", "everything")


def upgrade() -> None:
    """Challenges so far get the level `curves`."""
    level = sa.Enum(*LEVELS, name="detail", native_enum=False, length=20)
    with op.batch_alter_table("challenges") as challenges:
        challenges.add_column(sa.Column("detail", level, nullable=False, server_default="curves"))
    with op.batch_alter_table("challenges") as challenges:
        challenges.alter_column("detail", server_default=None)
    for who in ("secret", "public"):
        _create(f"{who}_curves", *_of_a_class(), sa.Column("points", sa.LargeBinary(), nullable=False))
        _create(f"{who}_confusion_matrices", sa.Column("counts", sa.JSON(), nullable=False))
    op.execute(
        "INSERT INTO secret_curves (result_id, class_name, position, kind, points)"
        " SELECT result_id, class_name, position, kind, points FROM curves"
    )
    op.execute(
        "INSERT INTO secret_confusion_matrices (result_id, counts)"
        " SELECT id, confusion_matrix FROM competition_results"
        " WHERE confusion_matrix IS NOT NULL AND CAST(confusion_matrix AS TEXT) <> 'null'"
    )
    op.drop_table("curves")
    with op.batch_alter_table("competition_results") as results:
        results.drop_column("confusion_matrix")
    _create("curves", *_of_a_class(), sa.Column("values", sa.JSON(), nullable=False))
    _create("confusion_shares", sa.Column("shares", sa.JSON(), nullable=False))
    _compute_eleven_points()
    _compute_shares()


def _compute_eleven_points() -> None:
    secret = _table("secret_curves", "class_name", "position", "kind", points=sa.LargeBinary())
    results = sa.table("competition_results", sa.column("id", sa.Uuid()), sa.column("details", sa.JSON()))
    stored = sa.select(secret, results.c.details).join(results, results.c.id == secret.c.result_id)
    shown = _table("curves", "class_name", "position", "kind", values=sa.JSON())
    values = sa.table("class_scores", sa.column("measure_id"), sa.column("class_name"), sa.column("value"))
    measures = sa.table("measures", sa.column("id"), sa.column("result_id", sa.Uuid()))
    for row in op.get_bind().execute(stored).yield_per(BATCH):
        positives = row.details.get(row.class_name, {}).get("positives", 0)
        of_class = (
            sa.select(values.c.value)
            .join(measures, measures.c.id == values.c.measure_id)
            .where(measures.c.result_id == row.result_id, values.c.class_name == row.class_name)
            .where(values.c.value.is_not(None))
        )
        scores = op.get_bind().scalars(of_class).all()
        points = eleven_points(unpack(row.points, CurveKind(row.kind)), positives, scores)
        copied = {name: getattr(row, name) for name in ("result_id", "class_name", "position", "kind")}
        op.get_bind().execute(sa.insert(shown).values({**copied, "values": points}))


def _compute_shares() -> None:
    secret = _table("secret_confusion_matrices", counts=sa.JSON())
    shown = _table("confusion_shares", shares=sa.JSON())
    for row in op.get_bind().execute(sa.select(secret)).yield_per(BATCH):
        shares = row_shares(row.counts, DECIMALS)
        op.get_bind().execute(sa.insert(shown).values(result_id=row.result_id, shares=shares))


def _table(name: str, *columns: str, **typed: sa.types.TypeEngine[Any]) -> sa.TableClause:
    more = (sa.column(column, kind) for column, kind in typed.items())
    return sa.table(name, sa.column("result_id", sa.Uuid()), *map(sa.column, columns), *more)


def _of_a_class() -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("class_name", sa.String(length=60), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=30), nullable=False),
    )


def _create(name: str, *columns: sa.Column[Any]) -> None:
    keys = ["result_id", *(column.name for column in columns if column.name == "class_name")]
    op.create_table(
        name,
        sa.Column("result_id", sa.Uuid(), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(
            ["result_id"],
            ["competition_results.id"],
            name=f"fk_{name}_result_id_competition_results",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(*keys, name=f"pk_{name}"),
    )
