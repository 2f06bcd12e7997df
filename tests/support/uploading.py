"""Uploads sent byte by byte over an own connection, and what the server keeps of them."""

import contextlib
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement, func, select

from tests.support.site import Site
from tests.support.small_world import results_of

# For comp1 of VOC2007, whose ground truth has three images; as a file of a form, and as a whole form.
RESULTS = results_of({"Main/comp1_cls_test_car.txt": ["000001 0.5", "000002 0.25", "000003 0.75"]})
PART = b'--b\r\nContent-Disposition: form-data; name="archive"; filename="x.tar.gz"\r\n\r\n'
BODY = b'--b\r\nContent-Disposition: form-data; name="method_name"\r\n\r\nM\r\n' + PART + RESULTS + b"\r\n--b--\r\n"
MULTIPART = {"Content-Type": "multipart/form-data; boundary=b"}


@contextlib.contextmanager
def sending(
    site: Site, path: str, begin: bytes, *, headers: Mapping[str, str], method: str = "POST"
) -> Iterator[socket.socket]:
    """Send the head of a request and the beginning of its body, and give the connection."""
    address = urlsplit(site.url)
    head = [f"{method} {path} HTTP/1.1", f"Host: {address.netloc}", *(f"{key}: {headers[key]}" for key in headers)]
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=20) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode() + begin)
        yield connection


def stored(site: Site) -> list[Path]:
    """Return the files of uploads, and of what was read from them."""
    return [path for path in site.settings.data_directory.glob("**/archives/**/*") if path.is_file()]


def count(site: Site, model: type, *conditions: ColumnElement[bool]) -> int:
    """Return the number of rows of a model."""
    with site.database.reading() as session:
        return session.scalar(select(func.count()).select_from(model).where(*conditions)) or 0
