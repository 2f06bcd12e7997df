"""Paginated lists in the API. The header `Link` leads to the other pages (RFC 8288)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel, Field

from vocboard.app.paging import LAST_PAGE, MAX_PER_PAGE, PER_PAGE, Cursor, Page

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
    """The page of a list that a request asks for.

    Attributes:
        after: where the page begins, instead of by its number, in lists that have cursors.
    """

    request: Request
    response: Response
    page: int
    per_page: int
    after: Cursor | None = None

    @property
    def chosen(self) -> dict[str, Any]:
        """The page, as services take it."""
        return {"page": self.page, "per_page": self.per_page} | ({} if self.after is None else {"after": self.after})

    def of(self, rows: Sequence[Row], convert: Callable[[Row], Item]) -> ItemPage[Item]:
        """Return the page of a list that is already in memory."""
        first = (self.page - 1) * self.per_page
        found = rows[first : first + self.per_page]
        return self.page_of(Page(tuple(found), self.page, self.per_page, len(rows)), convert)

    def page_of(self, page: Page[Row], convert: Callable[[Row], Item]) -> ItemPage[Item]:
        """Convert a page of rows to a page of the API."""
        last = page.pages
        pages = {"first": 1, "prev": min(page.page - 1, last), "last": last}
        addresses = {relation: self._address(number) for relation, number in pages.items() if number}
        if page.has_next:
            addresses["next"] = self._address(page.page + 1, page.following)
        links = (f'<{address}>; rel="{relation}"' for relation, address in addresses.items())
        self.response.headers["Link"] = ", ".join(links)
        return ItemPage(
            items=[convert(row) for row in page.items], page=page.page, per_page=page.per_page, total=page.total
        )

    def _address(self, number: int, after: Cursor | None = None) -> str:
        url = self.request.url.remove_query_params("cursor").include_query_params(page=number)
        if after is not None:
            url = url.include_query_params(cursor=after)
        return f"{url.path}?{url.query}"


async def _page_request(
    request: Request,
    response: Response,
    page: Annotated[int, Query(ge=1, le=LAST_PAGE, description="Page number, starting at 1.")] = 1,
    per_page: Annotated[int, Query(ge=1, le=MAX_PER_PAGE, description="Items per page.")] = PER_PAGE,
) -> PageRequest:
    return PageRequest(request, response, page, per_page)


async def _cursor_request(
    asked: Annotated[PageRequest, Depends(_page_request)],
    cursor: Annotated[
        str | None,
        Query(
            max_length=200,
            description="Where the page begins: as in the address `next` of the header `Link`. Whatever is added in "
            "the meantime, no item is repeated or left out. `page` is only the number of the page then.",
        ),
    ] = None,
) -> PageRequest:
    return replace(asked, after=None if cursor is None else Cursor.of(cursor))


Paging = Annotated[PageRequest, Depends(_page_request)]
PagingByTime = Annotated[PageRequest, Depends(_cursor_request)]  # for what `paginate_by_time` returns
