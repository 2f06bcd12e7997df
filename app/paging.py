"""Pagination."""

import uuid
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Select, func
from sqlalchemy.orm import Session

PER_PAGE = 50
MAX_PER_PAGE = 200
LAST_PAGE = 1_000_000  # larger numbers would overflow the databases' integers

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list.

    Attributes:
        page: its number, starting at 1.
        total: number of items in the whole list.
    """

    items: tuple[Item, ...]
    page: int
    per_page: int
    total: int

    @property
    def pages(self) -> int:
        """Number of pages of the list; at least one."""
        return max(1, -(-self.total // self.per_page))


def paginate(session: Session, query: Select[Item], *, page: int = 1, per_page: int = PER_PAGE) -> Page[Item]:
    """Return a page of an ordered query, in two statements; page numbers out of range are clamped."""
    page, per_page = _clamped(page, per_page)
    whole: Any = query.order_by(None).options().with_only_columns(func.count(), maintain_column_froms=True)
    total = session.scalar(whole) or 0
    items = session.scalars(query.limit(per_page).offset((page - 1) * per_page)).all()
    return Page(tuple(items), page, per_page, total)


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
