"""The gallery, as a running site."""

from dataclasses import dataclass, field

from playwright._impl._api_structures import SetCookieParam

from tests.browser.gallery import Gallery
from tests.support.browsing import signed_in
from tests.support.site import Site


def cookies_of(site: Site, email: str) -> list[SetCookieParam]:
    """Return the cookies of a browser in which this person is signed in."""
    with signed_in(site, email) as client:
        return [{"name": name, "value": value, "url": site.url} for name, value in client.cookies.items()]


@dataclass(frozen=True)
class Exhibition:
    """The gallery, and the site that shows it."""

    site: Site
    gallery: Gallery
    kept: dict[str, list[SetCookieParam]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where it answers."""
        return self.site.url

    def cookies(self, who: str) -> list[SetCookieParam]:
        """Return the cookies of a browser in which somebody of the gallery is signed in: "participant" and so on."""
        if who not in self.kept:
            self.kept[who] = cookies_of(self.site, getattr(self.gallery, who))
        return self.kept[who]
