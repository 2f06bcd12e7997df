"""Lists, page by page, as the API gives them."""

from collections.abc import Callable, Sequence
from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel

from vocboard.app.paging import LAST_PAGE, MOST_PER_PAGE, PER_PAGE, Page

Item = TypeVar("Item")
Row = TypeVar("Row")

PageNumber = Annotated[int, Query(ge=1, le=LAST_PAGE, description="Which page, from 1 on.")]
PerPage = Annotated[int, Query(ge=1, le=MOST_PER_PAGE, description="Items on a page.")]
FIRST_PAGE = 1
DEFAULT_PER_PAGE = PER_PAGE


class ItemPage(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    page: int
    per_page: int
    total: int  # of the whole list


def item_page(page: Page[Row], convert: Callable[[Row], Item]) -> ItemPage[Item]:
    """Turn a page of rows into one of the API."""
    return ItemPage(
        items=[convert(row) for row in page.items], page=page.page, per_page=page.per_page, total=page.total
    )


def page_of(rows: Sequence[Row], *, page: int, per_page: int) -> Page[Row]:
    """Cut a page out of a list that is short enough to be read as a whole."""
    first = (page - 1) * per_page
    return Page(tuple(rows[first : first + per_page]), page, per_page, len(rows))
