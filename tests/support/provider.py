"""A real provider of OpenID Connect in tests, and what a browser does there."""

import contextlib
import html
import json
import re
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.support.processes import listening, temporary_directory
from tests.support.site import UNVERIFIED

CLIENT, SECRET = "vocboard", "a secret: with/odd+characters"
PASSWORD = "the password at the provider"
# User name, address, whether the provider has verified it.
PEOPLE = (
    ("ada", "ada@uni.example", True),
    ("bob", "bob@uni.example", True),
    ("mallory", "victim@lab.example", False),
    ("nobody", "", False),
)
NAMES = ("uni", "second", "elsewhere", "mirror", "forged", "half", "failing", "huge", "unsafe")
# On any port: RFC 8252, section 7.3.
CALLBACKS = tuple(f"http://127.0.0.1/sign-in/with/{name}/callback" for name in NAMES)
_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
PROGRAM = Path(__file__).with_name("provider_process.py")


@dataclass(frozen=True, slots=True)
class Provider:
    """A running provider.

    Attributes:
        url: where it answers; the issuer is `url` and `/o`.
    """

    url: str

    def setting(self, **more: str) -> str:
        """Return the setting of a server with this provider as `uni`, and with all that are wrong with it.

        Args:
            more: issuers of further providers, by name.
        """
        issuers = {name: f"{self.url}/{name}" for name in NAMES[2:]} | {"uni": f"{self.url}/o"} | more
        common = {"client_id": CLIENT, "client_secret": SECRET}
        return json.dumps(
            [
                {"name": name, "title": "Example University" if name == "uni" else name, "issuer": issuer, **common}
                for name, issuer in issuers.items()
            ]
        )


@contextlib.contextmanager
def running_provider() -> Iterator[Provider]:
    """Run a provider until the block ends."""
    world = {"people": PEOPLE, "password": PASSWORD, "client": CLIENT, "secret": SECRET, "callbacks": CALLBACKS}
    directory = temporary_directory("")

    def command(port: int) -> list[str]:  # -P: the modules beside the program are not for everyone to import
        return [sys.executable, "-P", str(PROGRAM), str(port), str(directory), json.dumps(world)]

    def answers(port: int) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        return False

    with listening(command, directory=directory, user="", stop_signal=signal.SIGKILL, answers=answers) as port:
        yield Provider(f"http://127.0.0.1:{port}")


def approved(address: str, name: str) -> str:
    """Sign in at the provider as a new browser that a site has sent to this address.

    Returns:
        The path with the answer, at the site.
    """
    with httpx.Client(verify=UNVERIFIED) as browser:
        asked = browser.get(address)
        page = browser.get(str(asked.url.join(asked.headers["location"])))
        hidden = {key: html.unescape(value) for key, value in _HIDDEN.findall(page.text)}
        form = {**hidden, "username": name, "password": PASSWORD}
        signed_in = browser.post(str(page.url), data=form)
        back = browser.get(str(page.url.join(signed_in.headers["location"]))).headers["location"]
    parts = urlsplit(back)
    assert "code" in parse_qs(parts.query), back
    return f"{parts.path}?{parts.query}"
