"""The page that explains the codes of problems, on the server that commands use. Loads the HTTP library."""

from vocboard.client.credentials import chosen_server, load
from vocboard.client.errors import ClientError

PAGE = "/docs/problems"  # of every server


def page_of_server() -> str | None:
    """Return the page's address; None without a server.

    Settings that cannot be read are not an error here: checking files needs no server.
    """
    try:
        return chosen_server(None, load()) + PAGE
    except ClientError:
        return None
