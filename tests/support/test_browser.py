"""The browser of the tests is a real one that reaches this machine and nothing else."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Error, Page

pytestmark = pytest.mark.browser


class Greeting(BaseHTTPRequestHandler):
    """Answers every request with one page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<title>Greeting</title><script>document.title += ' from here'</script>")

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Greeting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_shows_pages_and_runs_their_scripts(page: Page, address: str) -> None:
    page.goto(address)
    assert page.title() == "Greeting from here"


def test_reaches_nothing_outside(page: Page) -> None:
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        page.goto("https://example.org/")
