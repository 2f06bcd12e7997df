"""Pagination: by number, and after an item in lists that grow while they are read."""

import base64
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, Self, TypeVar

from sqlalchemy import ColumnElement, Select, func, literal, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from vocboard.app.errors import InvalidInputError

PER_PAGE = 50
MAX_PER_PAGE = 200
LAST_PAGE = 1_000_000  # larger numbers would overflow the databases' integers

Item = TypeVar("Item")
Other = TypeVar("Other")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a list by time: behind the item that was created then and has this id."""

    created_at: datetime
    id: uuid.UUID

    def __str__(self) -> str:
        """Return the text that programs send back."""
        content = json.dumps([self.created_at.isoformat(), self.id.hex])
        return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")

    @classmethod
    def of(cls, text: str) -> Self:
        """Read the text of a cursor.

        Raises:
            InvalidInputError: it is none.
        """
        try:
            created_at, identifier = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            cursor = cls(datetime.fromisoformat(created_at), uuid.UUID(identifier))
            cursor.created_at.astimezone(UTC)
        except (ValueError, TypeError, AttributeError, OverflowError):
            cursor = None
        if cursor is None or cursor.created_at.tzinfo is None:
            raise InvalidInputError({"cursor": "Send the cursor of a `next` in the header Link, as it is."})
        return cursor


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list.

    Attributes:
        page: its number, starting at 1.
        total: number of items in the whole list.
        has_cursors: whether the list is continued by `following`, not by the number of the next page.
        following: where the next page begins; None if there is none, or it has its number alone.
    """

    items: tuple[Item, ...]
    page: int
    per_page: int
    total: int
    has_cursors: bool = False
    following: Cursor | None = None

    @property
    def pages(self) -> int:
        """Number of pages of the list; at least one."""
        return max(1, -(-self.total // self.per_page))

    @property
    def has_next(self) -> bool:
        """Whether another page follows."""
        return self.following is not None if self.has_cursors else self.page < self.pages

    def of(self, items: Sequence[Other]) -> "Page[Other]":
        """Return the page with other items, made of those."""
        return Page(tuple(items), self.page, self.per_page, self.total, self.has_cursors, self.following)


def paginate(session: Session, query: Select[Item], *, page: int = 1, per_page: int = PER_PAGE) -> Page[Item]:
    """Return a page of an ordered query, in two statements; page numbers out of range are clamped."""
    page, per_page = _clamped(page, per_page)
    whole: Any = query.order_by(None).options().with_only_columns(func.count(), maintain_column_froms=True)
    total = session.scalar(whole) or 0
    items = session.scalars(query.limit(per_page).offset((page - 1) * per_page)).all()
    return Page(tuple(items), page, per_page, total)


def paginate_by_time(
    session: Session,
    query: Select[Any],
    keys: tuple[InstrumentedAttribute[datetime], InstrumentedAttribute[uuid.UUID]],
    *,
    page: int = 1,
    per_page: int = PER_PAGE,
    after: Cursor | None = None,
    ascending: bool = False,
    in_one: bool = False,
) -> Page[Any]:
    """Return a page of a query that has no order: the latest come first, unless `ascending`.

    Pages after a cursor neither repeat nor leave out items when others were added in the meantime.

    Args:
        keys: when an item was created, and its id.
        page: of a page after a cursor, what number it shall have.
        in_one: whether to do it in one statement if possible: for conditions that cost more than what is selected.
    """
    page, per_page = _clamped(page, per_page)
    ordered = query.order_by(*(key if ascending else key.desc() for key in keys)).add_columns(*keys)
    if after is not None:
        ordered = ordered.where(_is_behind(keys, after, ascending=ascending))
    else:
        ordered = ordered.offset((page - 1) * per_page)
        ordered = ordered.add_columns(func.count().over()) if in_one else ordered
    rows = session.execute(ordered.limit(per_page + 1)).all()
    if in_one and after is None and rows:
        total = rows[0][3]
    else:
        whole: Any = query.options().with_only_columns(func.count(), maintain_column_froms=True)
        total = session.scalar(whole) or 0
    following = Cursor(*rows[per_page - 1][1:3]) if len(rows) > per_page else None
    return Page(tuple(row[0] for row in rows[:per_page]), page, per_page, total, True, following)


def _is_behind(keys: tuple[Any, Any], after: Cursor, *, ascending: bool) -> ColumnElement[bool]:
    place = tuple_(literal(after.created_at, keys[0].type), literal(after.id, keys[1].type))
    return tuple_(*keys) > place if ascending else tuple_(*keys) < place


def paginate_ids(
    session: Session, query: Select[uuid.UUID], *, page: int = 1, per_page: int = PER_PAGE
) -> Page[uuid.UUID]:
    """As `paginate`, in one statement if there is an item: for conditions that cost more than what is selected."""
    page, per_page = _clamped(page, per_page)
    counted = query.add_columns(func.count().over()).limit(per_page).offset((page - 1) * per_page)
    rows = session.execute(counted).all()
    if not rows:
        return paginate(session, query, page=page, per_page=per_page)
    return Page(tuple(item for item, _ in rows), page, per_page, rows[0][1])


def _clamped(page: int, per_page: int) -> tuple[int, int]:
    return min(max(page, 1), LAST_PAGE), min(max(per_page, 1), MAX_PER_PAGE)
