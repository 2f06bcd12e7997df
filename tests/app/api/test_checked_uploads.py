"""Checking before submitting: an upload without submitting it, and refusing entries that leave out classes."""

from typing import Any

import httpx
import pytest

from tests.support.factories import make_token, make_user
from tests.support.site import Site
from tests.support.wrong_archives import TRAINING_DATA, challenge, detections, tar
from vocboard.app.challenges.models import Challenge

TUS = {"Tus-Resumable": "1.0.0"}
FORM = {"method_name": "Mine", "training_data": TRAINING_DATA}


@pytest.fixture
def target(embedded_site: Site) -> Challenge:
    with embedded_site.writing() as session:
        return challenge(session)


@pytest.fixture
def token(embedded_site: Site) -> str:
    with embedded_site.writing() as session:
        return make_token(session, make_user(session))


def without(*classes: str) -> bytes:
    return tar(
        {
            name: text
            for name, text in detections().items()
            if not name.endswith(tuple(f"_{one}.txt" for one in classes))
        }
    )


def uploaded(client: httpx.Client, slug: str, archive: bytes) -> str:
    headers = {**TUS, "Upload-Length": str(len(archive))}
    created = client.post(f"/api/v1/uploads?challenge={slug}", headers=headers)
    assert created.status_code == 201, created.text
    part = {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    assert client.patch(created.headers["Location"], content=archive, headers=part).status_code == 204
    return str(created.json()["id"])


def test_a_check_says_what_an_upload_enters_and_leaves_out(embedded_site: Site, target: Challenge, token: str) -> None:
    with embedded_site.client(token) as client:
        upload = uploaded(client, target.slug, without("bird"))
        for _ in range(2):  # it stays, and can be checked again
            report = client.post(f"/api/v1/uploads/{upload}/check").json()
        submitted = client.post(
            f"/api/v1/challenges/{target.slug}/submissions?upload={upload}",
            files={name: (None, text) for name, text in FORM.items()},
        )
    assert report["valid"]
    assert report["competitions"]["comp4"]["not_entered"] == ["bird"]
    assert len(report["competitions"]["comp4"]["classes"]) == 19
    assert report["declarations"] == {"training_data": ["comp4"], "flickr_images": ["comp4"]}
    assert report["problems"] == []
    assert submitted.status_code == 201, submitted.text


def test_a_check_of_a_wrong_archive_has_its_problems(embedded_site: Site, target: Challenge, token: str) -> None:
    with embedded_site.client(token) as client:
        upload = uploaded(client, target.slug, tar(detections(comma=True)))
        report = client.post(f"/api/v1/uploads/{upload}/check").json()
        nothing = client.get("/api/v1/submissions").json()
    assert not report["valid"]
    assert report["groups"][0]["count"] == 1_200
    assert report["groups"][0]["documentation"] == f"/docs/problems#{report['groups'][0]['code']}"
    assert nothing["total"] == 0


def test_missing_classes_are_named_with_the_errors_of_other_files(
    embedded_site: Site, target: Challenge, token: str
) -> None:
    files = {name: content for name, content in detections(comma=True).items() if "_bird" not in name}
    with embedded_site.client(token) as client:
        upload = uploaded(client, target.slug, tar(files))
        report = client.post(f"/api/v1/uploads/{upload}/check").json()
        refused = client.post(
            f"/api/v1/challenges/{target.slug}/submissions?require_all_classes=true&upload={upload}",
            files={name: (None, text) for name, text in FORM.items()},
        )
    assert not report["valid"]
    assert report["competitions"]["comp4"]["not_entered"] == ["bird"], "and not those whose files have errors"
    assert refused.json()["code"] == "invalid_archive"
    assert refused.json()["not_entered"] == {"comp4": ["bird"]}


def test_an_unfinished_upload_cannot_be_checked(embedded_site: Site, target: Challenge, token: str) -> None:
    with embedded_site.client(token) as client:
        created = client.post(f"/api/v1/uploads?challenge={target.slug}", headers={**TUS, "Upload-Length": "10"})
        answer = client.post(f"/api/v1/uploads/{created.json()['id']}/check")
    assert answer.status_code == 409
    assert "Only 0 of the 10 bytes" in answer.json()["detail"]


def test_missing_classes_are_refused_if_the_request_says_so(embedded_site: Site, target: Challenge, token: str) -> None:
    def send(**query: Any) -> httpx.Response:
        return client.post(
            f"/api/v1/challenges/{target.slug}/submissions",
            params=query,
            data=FORM,
            files={"archive": ("results.tar.gz", without("bird", "boat"))},
        )

    with embedded_site.client(token) as client:
        refused, accepted = send(require_all_classes=True), send()
    assert refused.status_code == 409
    assert refused.json()["code"] == "incomplete_entry"
    assert refused.json()["not_entered"] == {"comp4": ["bird", "boat"]}
    assert accepted.status_code == 201


def test_errors_of_the_form_come_with_those_of_the_archive(embedded_site: Site, target: Challenge, token: str) -> None:
    with embedded_site.client(token) as client:
        answer = client.post(
            f"/api/v1/challenges/{target.slug}/submissions",
            data={"method_name": ""},
            files={"archive": ("results.tar.gz", tar(detections(comma=True)))},
        ).json()
    assert answer["code"] == "invalid_archive"
    assert answer["problems"]
    assert set(answer["fields"]) == {"method_name", "training_data"}
