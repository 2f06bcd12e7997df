"""Paginated lists in the API."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel

from vocboard.app.paging import LAST_PAGE, MAX_PER_PAGE, PER_PAGE, Page

Item = TypeVar("Item")
Row = TypeVar("Row")


class ItemPage(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    page: int
    per_page: int
    total: int  # of the whole list


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The page of a list that a request asks for."""

    page: int
    per_page: int

    def of(self, rows: Sequence[Row], convert: Callable[[Row], Item]) -> ItemPage[Item]:
        """Return the page of a list that is already in memory."""
        first = (self.page - 1) * self.per_page
        found = rows[first : first + self.per_page]
        return item_page(Page(tuple(found), self.page, self.per_page, len(rows)), convert)


async def _page_request(
    page: Annotated[int, Query(ge=1, le=LAST_PAGE, description="Page number, starting at 1.")] = 1,
    per_page: Annotated[int, Query(ge=1, le=MAX_PER_PAGE, description="Items per page.")] = PER_PAGE,
) -> PageRequest:
    return PageRequest(page, per_page)


Paging = Annotated[PageRequest, Depends(_page_request)]


def item_page(page: Page[Row], convert: Callable[[Row], Item]) -> ItemPage[Item]:
    """Convert a page of rows to a page of the API."""
    return ItemPage(
        items=[convert(row) for row in page.items], page=page.page, per_page=page.per_page, total=page.total
    )
