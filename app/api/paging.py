"""Paginated lists in the API."""

from collections.abc import Callable, Sequence
from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel

from vocboard.app.paging import LAST_PAGE, MAX_PER_PAGE, PER_PAGE, Page

Item = TypeVar("Item")
Row = TypeVar("Row")

PageNumber = Annotated[int, Query(ge=1, le=LAST_PAGE, description="Page number, starting at 1.")]
PerPage = Annotated[int, Query(ge=1, le=MAX_PER_PAGE, description="Items per page.")]
FIRST_PAGE = 1
DEFAULT_PER_PAGE = PER_PAGE


class ItemPage(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    page: int
    per_page: int
    total: int  # of the whole list


def item_page(page: Page[Row], convert: Callable[[Row], Item]) -> ItemPage[Item]:
    """Convert a page of rows to a page of the API."""
    return ItemPage(
        items=[convert(row) for row in page.items], page=page.page, per_page=page.per_page, total=page.total
    )


def page_of(rows: Sequence[Row], *, page: int, per_page: int) -> Page[Row]:
    """Return a page of a list that is already in memory."""
    first = (page - 1) * per_page
    return Page(tuple(rows[first : first + per_page]), page, per_page, len(rows))
