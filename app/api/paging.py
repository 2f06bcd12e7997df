"""Paginated lists in the API. The header `Link` leads to the other pages (RFC 8288)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel, Field

from vocboard.app.paging import LAST_PAGE, MAX_PER_PAGE, PER_PAGE, Page

Item = TypeVar("Item")
Row = TypeVar("Row")


class ItemPage(BaseModel, Generic[Item]):
    """One page of a list. The header `Link` has the addresses of the first, previous, next and last page."""

    items: list[Item]
    page: int = Field(ge=1)
    per_page: int = Field(ge=1, le=MAX_PER_PAGE)
    total: int = Field(ge=0, description="Number of items of the whole list.")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The page of a list that a request asks for."""

    request: Request
    response: Response
    page: int
    per_page: int

    def of(self, rows: Sequence[Row], convert: Callable[[Row], Item]) -> ItemPage[Item]:
        """Return the page of a list that is already in memory."""
        first = (self.page - 1) * self.per_page
        found = rows[first : first + self.per_page]
        return self.page_of(Page(tuple(found), self.page, self.per_page, len(rows)), convert)

    def page_of(self, page: Page[Row], convert: Callable[[Row], Item]) -> ItemPage[Item]:
        """Convert a page of rows to a page of the API."""
        last = page.pages
        pages = {"first": 1, "prev": min(page.page - 1, last), "next": page.page + 1, "last": last}
        links = (
            f'<{self._address(number)}>; rel="{relation}"' for relation, number in pages.items() if 1 <= number <= last
        )
        self.response.headers["Link"] = ", ".join(links)
        return ItemPage(
            items=[convert(row) for row in page.items], page=page.page, per_page=page.per_page, total=page.total
        )

    def _address(self, number: int) -> str:
        url = self.request.url.include_query_params(page=number)
        return f"{url.path}?{url.query}"


async def _page_request(
    request: Request,
    response: Response,
    page: Annotated[int, Query(ge=1, le=LAST_PAGE, description="Page number, starting at 1.")] = 1,
    per_page: Annotated[int, Query(ge=1, le=MAX_PER_PAGE, description="Items per page.")] = PER_PAGE,
) -> PageRequest:
    return PageRequest(request, response, page, per_page)


Paging = Annotated[PageRequest, Depends(_page_request)]
