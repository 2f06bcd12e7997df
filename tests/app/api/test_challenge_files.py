"""Files of a challenge: uploads by organisers, downloads in parts, who may have them, hostile names and pictures."""

import hashlib
import io
import struct
import threading
import uuid
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import html
from PIL import Image
from sqlalchemy import select

from tests.support.archives import Change, changed, edited, in_first
from tests.support.browsing import from_here, signed_in, token_of
from tests.support.factories import make_challenge, make_file, make_organiser, make_token, make_user
from tests.support.phases import phase_of
from tests.support.site import Site, serving
from vocboard.app.accounts.models import User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges import phase_people
from vocboard.app.challenges.models import (
    Admission,
    Ban,
    Challenge,
    ChallengeFile,
    ChallengeOrganiser,
    FileKind,
    Visibility,
)
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions.pruning import Pruned, prune
from vocboard.app.transfer import importing

KIT = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(KIT).hexdigest()
Json = dict[str, Any]


@dataclass(frozen=True)
class Host:
    """A challenge with its organiser's token.

    Attributes:
        files: the path of its files.
    """

    site: Site
    challenge: Challenge
    token: str
    email: str

    @property
    def files(self) -> str:
        return f"/api/v1/challenges/{self.challenge.slug}/files"

    @property
    def store(self) -> ArchiveStore:
        store = self.site.application.state.services.store
        assert isinstance(store, ArchiveStore)
        return store

    def post(self, content: bytes = KIT, name: str = "kit.zip", **fields: str) -> httpx.Response:
        with self.site.client(self.token) as client:
            return client.post(self.files, data=fields, files={"file": (name, content)})

    def add(self, content: bytes = KIT, name: str = "kit.zip", **fields: str) -> Json:
        answer = self.post(content, name, **fields)
        assert answer.status_code == 201, answer.text
        found: Json = answer.json()
        assert answer.headers["location"] == f"{self.files}/{found['id']}"
        return found

    def listed(self) -> list[Json]:
        with self.site.client() as client:
            found: list[Json] = client.get(self.files).json()["items"]
            return found

    def get(self, file: Json, token: str | None = None, **headers: str) -> httpx.Response:
        with self.site.client(token) as client:
            return client.get(f"{self.files}/{file['id']}", headers=headers)

    def delete(self, file: Json) -> int:
        with self.site.client(self.token) as client:
            return client.delete(f"{self.files}/{file['id']}").status_code

    def change(self, change: Callable[[Challenge], object]) -> None:
        with self.site.writing() as session:
            change(session.scalars(select(Challenge).where(Challenge.id == self.challenge.id)).one())


def host_at(site: Site, **given: Any) -> Host:
    with site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, **given)
        return Host(site, challenge, make_token(session, organiser), organiser.email)


@pytest.fixture
def host(embedded_site: Site) -> Host:
    return host_at(embedded_site)


@pytest.fixture
def guest(shared_site: Site) -> Host:
    """Give a challenge on a site with those of other tests."""
    return host_at(shared_site)


def picture(form: str = "PNG", size: tuple[int, int] = (300, 200), **given: Any) -> bytes:
    target = io.BytesIO()
    Image.linear_gradient("L").resize(size).convert("RGB").save(target, form, **given)
    return target.getvalue()


def test_data_come_back_as_they_were_sent(host: Host) -> None:
    file = host.add(title="Starting kit")
    del file["id"], file["created_at"]
    assert file == {
        "kind": "data",
        "audience": "public",
        "name": "kit.zip",
        "title": "Starting kit",
        "bytes": len(KIT),
        "sha256": SHA256,
        "media_type": "application/zip",
    }
    [listed] = host.listed()
    answer = host.get(listed)
    assert (answer.status_code, answer.content) == (200, KIT)
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == 'attachment; filename="kit.zip"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "public, max-age=86400"
    assert answer.headers["etag"] == f'"{SHA256}"'
    assert answer.headers["repr-digest"].startswith("sha-256=:")
    with host.store.open(SHA256) as stored:
        assert stored.read() == KIT


@pytest.mark.parametrize(
    ("asked", "status", "content"),
    [
        ("bytes=0-9", 206, KIT[:10]),
        ("bytes=1000-", 206, KIT[1000:]),
        ("bytes=-5", 206, KIT[-5:]),
        (f"bytes={len(KIT)}-", 416, None),
        ("bytes=9-3", 200, KIT),
        ("bytes=abc", 200, KIT),
        ("lines=1-2", 200, KIT),
        ("bytes=" + ",".join(["0-"] * 5000), 200, KIT),  # too many are none
        ("bytes=" + ",".join(["0-"] * 90), 206, KIT),  # the same one
    ],
)
def test_parts_can_be_downloaded(guest: Host, asked: str, status: int, content: bytes | None) -> None:
    answer = guest.get(guest.add(), Range=asked)
    assert answer.status_code == status
    if content is not None:
        assert answer.content == content
        return
    assert (answer.headers["content-type"], answer.json()["status"]) == ("application/problem+json", 416)
    assert answer.headers["content-range"] == f"bytes */{len(KIT)}"


def test_an_empty_file_has_no_parts(guest: Host) -> None:
    answer = guest.get(guest.add(b""), Range="bytes=0-")
    assert (answer.status_code, answer.content) == (200, b"")


def test_a_file_is_not_sent_to_who_has_it(guest: Host) -> None:
    file = guest.add()
    answer = guest.get(file, Range="bytes=0-9", **{"If-None-Match": f'"{SHA256}"'})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == f'"{SHA256}"'
    assert answer.headers["cache-control"] == "public, max-age=86400"
    assert guest.get(file, **{"If-None-Match": '"another"'}).content == KIT
    with guest.site.client() as client:
        answer = client.head(f"{guest.files}/{file['id']}", headers={"Range": "bytes=0-9"})
    assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"", str(len(KIT)))


def test_a_download_is_only_continued_if_the_file_is_the_same(guest: Host) -> None:
    file = guest.add()
    assert guest.get(file, Range="bytes=9-", **{"If-Range": f'"{SHA256}"'}).content == KIT[9:]
    assert guest.get(file, Range="bytes=9-", **{"If-Range": '"another"'}).content == KIT


@pytest.mark.parametrize(
    ("name", "kept", "media_type"),
    [
        ("../../../etc/passwd", "passwd", "application/octet-stream"),
        ("C:\\Windows\\system32\\evil.exe", "evil.exe", "application/octet-stream"),
        ("page.html", "page.html", "application/octet-stream"),
        ("drawing.svg", "drawing.svg", "application/octet-stream"),
        ("a\u202egpj.exe", "agpj.exe", "application/octet-stream"),
        ("Bilder für alle.tar", "Bilder für alle.tar", "application/x-tar"),
    ],
)
def test_names_lead_nowhere_and_run_nothing(guest: Host, name: str, kept: str, media_type: str) -> None:
    file = guest.add(name=name)
    assert (file["name"], file["media_type"]) == (kept, media_type)
    answer = guest.get(file)
    assert answer.headers["content-type"] == media_type
    assert answer.headers["content-disposition"].startswith("attachment; filename")
    assert "\n" not in answer.headers["content-disposition"]


@pytest.mark.parametrize(
    ("name", "fields", "wrong"),
    [
        ("..", {}, "file"),
        ("/", {}, "file"),
        (" ", {}, "file"),
        ("x" * 256, {}, "file"),
        ("a.zip", {"kind": "page"}, "kind"),
        ("a.zip", {"audience": "friends"}, "audience"),
        ("a.png", {"kind": "cover", "audience": "admitted"}, "audience"),
        ("000001.png", {"kind": "showcase", "audience": "admitted"}, "audience"),
        ("a.zip", {"title": "x" * 201}, "title"),
        ("a.zip", {"title": "a\u202eb"}, "title"),
        ("a.zip", {"titel": "x"}, "titel"),
        ("a.zip", {"audience": ["public", "admitted"]}, "audience"),
        ("a.zip", {"kind": ["data", "data"]}, "kind"),
    ],
)
def test_what_is_wrong_is_said_by_field(guest: Host, name: str, fields: Json, wrong: str) -> None:
    answer = guest.post(name=name, **fields)
    assert (answer.status_code, list(answer.json()["fields"])) == (422, [wrong])
    assert answer.json()["fields"][wrong].startswith("Rename") == (name in {"..", "/", " "})
    assert fields.get("kind") != "page" or answer.json()["fields"][wrong].endswith("data, cover, logo, showcase.")
    assert guest.listed() == []


def test_hostile_titles_and_names_are_shown_as_text(guest: Host) -> None:
    texts = ['"><script>alert(1)</script>.zip', "<img src=x onerror=alert(1)>", "javascript:alert(1)"]
    for text in texts:
        guest.add(name="<svg onload=alert(1)>.zip", title=text)
    guest.add(picture(), "<b>.png", kind="logo", title=texts[0])
    with signed_in(guest.site, guest.email) as client:
        for path in ("data", ""):
            page = html.fromstring(client.get(f"/challenges/{guest.challenge.slug}/{path}".rstrip("/")).text)
            check_runs_nothing(page)
        page = html.fromstring(client.get(f"/challenges/{guest.challenge.slug}/data").text)
        links = [" ".join(link.text_content().split()) for link in page.xpath('//a[contains(@href, "/files/")]')]
        assert links == texts
        check_runs_nothing(html.fromstring(client.get(f"/organise/{guest.challenge.slug}/files").text))


def check_runs_nothing(page: Any) -> None:
    for script in page.xpath("//script"):
        assert script.get("src", "").startswith("/static/") or script.get("type") == "application/ld+json"
    assert not page.xpath("//main//*[@onerror or @onload or starts-with(@href, 'javascript')]")
    assert all(image.get("src").startswith("/api/v1/") for image in page.xpath("//main//img"))


def test_those_who_may_not_submit_get_no_file_for_admitted_people(host: Host) -> None:
    file = host.add(audience="admitted", title="Unlabelled images")
    with host.site.writing() as session:
        tokens = {
            "anybody": make_token(session, make_user(session)),
            "unconfirmed": make_token(session, make_user(session, confirmed=False)),
            "banned": make_token(session, banned := make_user(session)),
            "admitted": make_token(session, admitted := make_user(session)),
        }
        session.add(Ban(user_id=banned.id, challenge_id=host.challenge.id, reason="Spam"))
    assert host.get(file).status_code == 401
    assert host.get(file, tokens["unconfirmed"]).status_code == 403
    assert host.get(file, tokens["banned"]).status_code == 403
    answer = host.get(file, tokens["anybody"])
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    for token, shown in ((None, None), (tokens["banned"], None), (tokens["anybody"], SHA256)):
        with host.site.client(token) as client:
            assert client.get(host.files).json()["items"][0]["sha256"] == shown
    with host.site.client() as client:
        page = html.fromstring(client.get(f"/challenges/{host.challenge.slug}/data").text)
    assert "Unlabelled images" in page.text_content()
    assert SHA256 not in page.text_content()
    assert not page.xpath('//a[contains(@href, "/files/")]')
    assert page.xpath('//li[contains(., "Unlabelled")]//a[starts-with(@href, "/sign-in")]')

    def choose(challenge: Challenge) -> None:
        challenge.main_phase.admission = Admission.APPROVED

    with host.site.writing() as session:
        challenge = session.get_one(Challenge, host.challenge.id)
        session.refresh(challenge, ["phases"])
        choose(challenge)
        organiser = session.scalars(select(User).where(User.email == host.email)).one()
        phase = phase_of(session, challenge)
        phase_people.admit(session, challenge=challenge, phase=phase, organiser=organiser, emails=[admitted.email])
    assert host.get(file, tokens["anybody"]).status_code == 403
    assert host.get(file, tokens["admitted"]).content == KIT
    assert host.get(file, host.token).content == KIT


def test_files_of_a_draft_do_not_exist_for_others(host: Host) -> None:
    file = host.add()

    def hide(challenge: Challenge) -> None:
        challenge.visibility = Visibility.DRAFT

    host.change(hide)
    with host.site.client() as client:
        assert client.get(host.files).status_code == host.get(file).status_code == 404
    answer = host.get(file, host.token)
    assert (answer.content, answer.headers["cache-control"]) == (KIT, "no-store")


def test_a_file_is_found_in_its_own_challenge_alone(host: Host) -> None:
    file, other = host.add(), host_at(host.site, slug="other")
    assert other.get(file, other.token).status_code == 404
    assert other.delete(file) == 404
    assert host.get(file).content == KIT


def test_a_deleted_file_leaves_nothing_behind(host: Host) -> None:
    first, second = host.add(), host.add(name="again.zip")
    assert host.delete(first) == 204
    assert host.get(first).status_code == 404
    assert host.get(second).content == KIT  # which is the same content
    assert host.delete(second) == host.delete(second) == 204
    assert SHA256 not in set(host.store.stored())
    with host.site.database.reading() as session:
        log = session.scalars(select(AuditEvent.action).where(AuditEvent.challenge_id == host.challenge.id)).all()
    assert log[-4:] == ["challenge.add_file"] * 2 + ["challenge.remove_file"] * 2


def test_the_sweep_keeps_files_and_sets_aside_what_has_no_row(host: Host) -> None:
    host.add()
    with host.store.receive(limit=9) as orphan:
        orphan.write(b"no row")
        lost = orphan.keep()
    assert prune(host.site.database, host.store, withdrawn_kept_for=timedelta()) == Pruned(0, 1, 0, 0)
    assert SHA256 in set(host.store.stored())
    assert lost not in set(host.store.stored())


def test_a_download_goes_on_when_its_file_is_deleted(host: Host) -> None:
    content = bytes(20_000_000)
    file = host.add(content)
    with host.site.client() as client, client.stream("GET", f"{host.files}/{file['id']}") as answer:
        chunks = answer.iter_bytes()
        received = len(next(chunks))
        assert host.delete(file) == 204
        received += sum(map(len, chunks))
    assert received == len(content)


def test_lost_content_is_said_to_be_lost(host: Host) -> None:
    file = host.add()
    host.store.remove(SHA256)
    answer = host.get(file)
    assert (answer.status_code, answer.json()["code"]) == (410, "archive_gone")


@contextmanager
def limited(settings: Settings, **limits: int) -> Iterator[Host]:
    with serving(settings.model_copy(update=limits)) as site:
        yield host_at(site)


def test_limits_of_a_file_and_of_all(embedded_site: Site) -> None:
    limits = {"challenge_file_limit_bytes": 1000, "challenge_files_limit_bytes": 1500}
    with limited(embedded_site.settings, **limits) as host:
        answer = host.post(bytes(1001))
        assert (answer.status_code, answer.json()["detail"]) == (413, "This file may have at most 1000 bytes.")
        host.add(bytes(1000))
        answer = host.post(bytes(501))
        assert answer.status_code == 413
        assert "500 bytes are left" in answer.json()["detail"]
        host.add(bytes(500))
        answer = host.post(b"1")
        assert answer.status_code == 409
        assert "Delete one first" in answer.json()["detail"]


def test_uploads_of_two_organisers_at_the_same_time_are_counted_one_after_the_other(settings: Settings) -> None:
    limits = {"challenge_file_limit_bytes": 1000, "challenge_files_limit_bytes": 1500}
    with limited(settings, **limits) as host:
        with host.site.writing() as session:
            other = make_organiser(session)
            session.add(ChallengeOrganiser(challenge_id=host.challenge.id, user_id=other.id))
            hosts = (host, replace(host, token=make_token(session, other)))
        barrier = threading.Barrier(4)

        def upload(number: int) -> int:
            barrier.wait()
            return hosts[number % 2].post(bytes([number]) * 1000).status_code

        with ThreadPoolExecutor(4) as pool:
            statuses = sorted(pool.map(upload, range(4)))
        assert statuses[0] == 201
        assert set(statuses[1:]) == {413}
        assert sum(1 for _ in host.store.stored()) == 1


def test_an_archived_challenge_takes_no_files(guest: Host) -> None:
    file = guest.add()

    def archive(challenge: Challenge) -> None:
        challenge.archived_at = challenge.created_at

    guest.change(archive)
    assert guest.post().status_code == guest.delete(file) == 409
    assert guest.get(file).content == KIT


@pytest.mark.parametrize(
    ("form", "size", "shown"), [("PNG", (300, 200), (300, 200)), ("JPEG", (4000, 1000), (1440, 360))]
)
def test_a_cover_is_re_encoded(guest: Host, form: str, size: tuple[int, int], shown: tuple[int, int]) -> None:
    exif = Image.Exif()
    exif[0x010E] = "A secret place"
    file = guest.add(picture(form, size, exif=exif) + b"PK\x03\x04<html><script>alert(1)</script>", kind="cover")
    assert (file["name"], file["media_type"]) == ("kit.webp", "image/webp")
    answer = guest.get(file)
    assert answer.headers["content-type"] == "image/webp"
    assert not any(word in answer.content for word in (b"secret", b"script", b"PK\x03\x04"))
    with Image.open(io.BytesIO(answer.content)) as found:
        assert (found.format, found.size) == ("WEBP", shown)


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def bomb(side: int = 60_000) -> bytes:
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1_000_000))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def metadata_bomb(kind: bytes) -> bytes:
    plain = picture()
    return plain[:33] + chunk(kind, b"Name\0\0" + zlib.compress(bytes(100_000_000), 1)) + plain[33:]


def animated_bomb(side: int = 16_384) -> bytes:
    """Return a WebP of some bytes whose frames are to be drawn on a canvas of a gigabyte."""
    frame, last = picture("WEBP", (16, 16))[12:], struct.pack("<I", side - 1)[:3]
    parts = (
        (b"VP8X", b"\x02\0\0\0" + last + last),
        (b"ANIM", bytes(6)),
        (b"ANMF", bytes(6) + b"\x0f\0\0" * 2 + bytes(4) + frame),
    )
    content = b"WEBP" + b"".join(kind + struct.pack("<I", len(part)) + part for kind, part in parts)
    return b"RIFF" + struct.pack("<I", len(content)) + content


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "SVG is not accepted", id="SVG"),
        pytest.param(b"<html><script>alert(1)</script>", "not a PNG, JPEG or WebP", id="HTML"),
        pytest.param(picture("GIF"), "not a PNG, JPEG or WebP", id="GIF"),
        pytest.param(picture("JPEG")[:500], "damaged", id="cut off"),
        pytest.param(b"", "not a PNG, JPEG or WebP", id="empty"),
        pytest.param(bomb(), "more than 40 million pixels", id="bomb"),
        pytest.param(metadata_bomb(b"zTXt"), "damaged", id="text bomb"),
        pytest.param(metadata_bomb(b"iCCP"), "damaged", id="bomb of a colour profile"),
        pytest.param(animated_bomb(), "damaged", id="animated bomb"),
    ],
)
def test_what_is_no_picture_is_refused_with_a_reason(guest: Host, content: bytes, said: str) -> None:
    def kept() -> tuple[set[uuid.UUID], set[str]]:
        with guest.site.database.reading() as session:
            return set(session.scalars(select(ChallengeFile.id))), set(guest.store.stored())

    before = kept()
    for kind in ("cover", "logo", "showcase"):
        answer = guest.post(content, "cover.png", kind=kind)
        assert answer.status_code == 422
        assert said in answer.json()["fields"]["file"]
    assert kept() == before


def test_a_picture_of_too_many_bytes_is_refused(guest: Host) -> None:
    answer = guest.post(picture() + bytes(17_000_000), "cover.png", kind="cover")
    assert (answer.status_code, answer.json()["detail"]) == (413, "This file may have at most 16 MiB.")


def test_images_of_the_showcase_are_named_like_images_of_the_test_set(host: Host) -> None:
    answer = host.post(picture(), "other.jpg", kind="showcase")
    assert answer.status_code == 422
    assert answer.json()["fields"]["file"] == (
        "“other” is not in the test set. Name the file like its image, for example 000001.jpg."
    )
    first = host.add(picture("JPEG", (1000, 600)), "000001.jpg", kind="showcase")
    assert (first["name"], first["media_type"], first["audience"]) == ("000001.webp", "image/webp", "public")
    with Image.open(io.BytesIO(host.get(first).content)) as found:
        assert found.size == (500, 300)
    second = host.add(picture(), "000001.png", kind="showcase", title="Another crop")
    assert host.get(first).status_code == 404, "it takes the place of the same image"
    assert host.get(second).status_code == 200


def test_a_showcase_has_at_most_twelve_images(host: Host) -> None:
    with host.site.writing() as session:
        for number in range(12):
            given = {"kind": FileKind.SHOWCASE, "media_type": "image/webp"}
            make_file(session, host.challenge.id, name=f"earlier{number}.webp", **given)
    answer = host.post(picture(), "000001.png", kind="showcase")
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "A showcase may have 12 images. Delete one first.",
    )


def moved(host: Host, path: Path, change: Change | None = None) -> httpx.Response:
    """Export the challenge, change the archive, and import it as `again`."""
    with host.site.client(host.token) as client:
        path.write_bytes(client.post(f"/api/v1/challenges/{host.challenge.slug}/export").content)
        content = (edited(path, change) if change else path).read_bytes()
        archive = {"archive": ("moved.tar", content)}
        return client.post("/api/v1/challenges/imports", data={"slug": "again"}, files=archive)


def test_files_move_with_their_challenge_and_pictures_are_encoded_again(host: Host, tmp_path: Path) -> None:
    kit = host.add(title="Starting kit", audience="admitted")
    lost = host.add(b"lost", "lost.zip")
    cover = host.add(picture(), "cover.png", kind="cover")
    host.add(picture(size=(60, 40)), "000001.png", kind="showcase", title="Two dogs")
    host.store.remove(lost["sha256"])
    # An archive can say anything: here, that the cover is what is put behind it, too.
    behind = host.get(cover).content + b"<script>alert(1)</script>"
    name = hashlib.sha256(behind).hexdigest()

    def put_behind(files: dict[str, bytes]) -> None:
        del files[f"files/{cover['sha256']}"]
        files[f"files/{name}"] = behind
        changed("files.jsonl", lambda one: one["kind"] == "cover" and one.update(sha256=name, byte_count=len(behind)))(
            files
        )

    assert (answer := moved(host, tmp_path / "a.tar", put_behind)).status_code == 201, answer.text
    with host.site.writing() as session:
        again = replace(host, challenge=session.scalars(select(Challenge).where(Challenge.slug == "again")).one())
    with host.site.client(host.token) as client:
        listed = client.get(again.files).json()["items"]
    said = [[one[key] for key in ("kind", "audience", "name", "title", "media_type")] for one in listed]
    assert said == [
        ["data", "admitted", "kit.zip", "Starting kit", "application/zip"],
        ["cover", "public", "cover.webp", "", "image/webp"],
        ["showcase", "public", "000001.webp", "Two dogs", "image/webp"],
    ]
    assert listed[0]["created_at"] == kit["created_at"]
    assert again.get(listed[0], host.token).content == KIT
    shown = again.get(listed[1], host.token).content
    assert b"script" not in shown
    assert Image.open(io.BytesIO(shown)).size == (300, 200)


@pytest.mark.parametrize(("remove", "status"), [(ArchiveStore.remove, 409), (ArchiveStore.set_aside, 201)])
def test_an_import_is_not_left_without_a_file_that_is_removed_elsewhere_meanwhile(
    host: Host,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    remove: Callable[[ArchiveStore, str], None],
    status: int,
) -> None:
    kit, complete = host.add(), importing._complete

    def complete_meanwhile(*args: Any, **given: Any) -> None:
        complete(*args, **given)
        remove(host.store, kit["sha256"])

    monkeypatch.setattr(importing, "_complete", complete_meanwhile)
    assert moved(host, tmp_path / "a.tar").status_code == status
    assert (kit["sha256"] in set(host.store.stored())) is (status == 201)


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'


def _svg_as_cover(files: dict[str, bytes]) -> None:
    files[f"files/{hashlib.sha256(SVG).hexdigest()}"] = SVG
    in_first("files.jsonl", lambda one: one.update(sha256=hashlib.sha256(SVG).hexdigest(), byte_count=len(SVG)))(files)


def _twice(files: dict[str, bytes]) -> None:
    files["files.jsonl"] += b"\n" + files["files.jsonl"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_svg_as_cover, "SVG is not accepted"),
        (_twice, "more than one cover"),
        (in_first("files.jsonl", lambda one: one.update(audience="admitted")), "Pictures are for everyone"),
        (in_first("files.jsonl", lambda one: one.update(name="..")), "Rename the file"),
        (in_first("files.jsonl", lambda one: one.update(byte_count=7)), "is missing, or has the wrong size"),
        (in_first("files.jsonl", lambda one: one.update(byte_count=2**40)), "is missing, or has the wrong size"),
        (lambda files: files.update({next(n for n in files if n.startswith("files/")): b"x"}), "wrong size"),
    ],
)
def test_forged_files_in_an_import_are_refused_and_leave_nothing(
    host: Host, tmp_path: Path, change: Change, said: str
) -> None:
    host.add(picture(), "cover.png", kind="cover")
    answer = moved(host, tmp_path / "a.tar", change)
    assert answer.status_code == 422
    assert said in " ".join(one["message"] for one in answer.json().get("problems", ())), answer.text
    with host.site.client(host.token) as client:
        assert client.get("/api/v1/challenges/again").status_code == 404


def test_pages_show_covers_and_logos(host: Host) -> None:
    earlier = host.add(picture(), kind="cover")
    cover = host.add(picture(size=(200, 100)), kind="cover", title="A harbour at dawn")
    logo = host.add(picture(size=(600, 600)), "lab.png", kind="logo", title="Harbour Lab")
    assert host.get(earlier).status_code == 404
    assert earlier["sha256"] not in set(host.store.stored())
    with Image.open(io.BytesIO(host.get(logo).content)) as found:
        assert found.size == (240, 240)
    with host.site.client() as client:
        pages = [html.fromstring(client.get(path).text) for path in ("/", f"/challenges/{host.challenge.slug}")]
    for page in pages:
        [shown] = page.xpath('//img[contains(@class, "cover")]')
        assert (shown.get("src"), shown.get("alt")) == (f"{host.files}/{cover['id']}", "A harbour at dawn")
        assert not page.xpath('//*[local-name()="svg" and contains(@class, "cover")]')
    assert pages[1].xpath('string(//*[@id="organisers"])') == "Organisers"
    assert [each.get("alt") for each in pages[1].xpath('//*[@class="logos"]/img')] == ["Harbour Lab"]


def test_organisers_upload_and_delete_on_a_page(host: Host) -> None:
    page = f"/organise/{host.challenge.slug}/files"
    with signed_in(host.site, host.email) as client:

        def send(content: bytes, **fields: str) -> httpx.Response:
            data = {"csrf_token": token_of(client.get(page)), **fields}
            return client.post(page, data=data, files={"file": ("kit.zip", content)}, headers=from_here(client))

        refused = send(b"no picture", kind="logo")
        assert refused.status_code == 422
        assert "not a PNG, JPEG or WebP" in refused.text
        refused = send(KIT, kind="logo", audience="admitted")
        assert "Who may download it: Pictures are for everyone" in refused.text
        assert send(KIT, csrf_token="wrong").status_code == 403
        assert send(KIT, title="Starting kit").headers["location"] == f"{page}?done=file-added"
        [link] = html.fromstring(client.get(page).text).xpath("//tbody//th/a")
        assert link.text_content() == "Starting kit"
        assert client.get(link.get("href")).content == KIT
        file_id = uuid.UUID(link.get("href").rpartition("/")[2])
        token = token_of(client.get(page))
        answer = client.post(f"{page}/{file_id}/delete", data={"csrf_token": token}, headers=from_here(client))
        assert answer.headers["location"] == f"{page}?done=file-removed"
        assert "0 files" in client.get(page).text
