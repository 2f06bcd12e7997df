"""An upload that takes long counts for nothing if its sender may no longer upload by the time it is there."""

import pytest

from tests.support.backend import wait_until
from tests.support.factories import make_challenge, make_token, make_user
from tests.support.site import Site
from tests.support.uploading import BODY, MULTIPART, PART, RESULTS, count, sending, stored
from vocboard.app.accounts import administration
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.intake.models import Upload
from vocboard.app.submissions.models import Submission
from vocboard.worker.ground_truth_directory import GroundTruthDirectory

ARCHIVE = PART + RESULTS + b"\r\n--b--\r\n"


def answer(site: Site, path: str, user: User, token: str, how: str, body: bytes = BODY, **more: str) -> bytes:
    """Return the answer to an upload whose sender loses the right to it before the end has been sent."""
    headers = {"Authorization": f"Bearer {token}", **MULTIPART, "Content-Length": str(len(body)), **more}
    with sending(site, path, body[:-10], headers=headers) as connection:
        wait_until(lambda: count(site, Upload, Upload.lease_expires_at.is_not(None)) > 0)
        end(site, user, how)
        connection.sendall(body[-10:])
        return connection.recv(1000)


def end(site: Site, user: User, how: str) -> None:
    with site.writing() as session:
        present = administration.get_user(session, user.email)
        if how == "disabled":
            administration.disable(session, user=present)
        elif how == "participant":
            administration.set_role(session, user=present, role=Role.PARTICIPANT)
        else:
            [row] = accounts.tokens_of(session, present)
            accounts.revoke_token(session, user=present, token_id=row.id)


@pytest.mark.parametrize("how", ["disabled", "revoked"])
def test_a_submission(embedded_site: Site, how: str) -> None:
    with embedded_site.writing() as session:
        slug = make_challenge(session, edition="VOC2007", competitions=["comp1"]).slug
        user = make_user(session)
        token = make_token(session, user)
    assert b" 401 " in answer(embedded_site, f"/api/v1/challenges/{slug}/submissions", user, token, how)
    assert count(embedded_site, Submission) == 0
    wait_until(lambda: not stored(embedded_site))


@pytest.mark.parametrize("how", ["disabled", "revoked"])
def test_a_repeated_submission(embedded_site: Site, how: str) -> None:
    """Its answer would be the earlier submission."""
    with embedded_site.writing() as session:
        slug = make_challenge(session, edition="VOC2007", competitions=["comp1"]).slug
        user = make_user(session)
        token = make_token(session, user)
    path = f"/api/v1/challenges/{slug}/submissions"
    with embedded_site.client(token) as client:
        headers = {**MULTIPART, "Idempotency-Key": "key"}
        submitted = client.post(path, content=BODY, headers=headers)
        assert client.post(path, content=BODY, headers=headers).json()["id"] == submitted.json()["id"]
    assert b" 401 " in answer(embedded_site, path, user, token, how, **{"Idempotency-Key": "key"})


@pytest.mark.parametrize(("how", "status"), [("disabled", b"401"), ("revoked", b"401"), ("participant", b"403")])
def test_an_exported_challenge(embedded_site: Site, how: str, status: bytes) -> None:
    with embedded_site.writing() as session:
        user = make_user(session, role=Role.ORGANISER)
        slug = make_challenge(session, organiser=user).slug
        token = make_token(session, user)
    with embedded_site.client(token) as client:
        exported = client.post(f"/api/v1/challenges/{slug}/export").content
    body = (
        b'--b\r\nContent-Disposition: form-data; name="slug"\r\n\r\nimported\r\n' + PART + exported + b"\r\n--b--\r\n"
    )
    assert b" %s " % status in answer(embedded_site, "/api/v1/challenges/imports", user, token, how, body)
    assert count(embedded_site, Challenge) == 1


@pytest.mark.parametrize(("how", "status"), [("disabled", b"401"), ("revoked", b"401"), ("participant", b"403")])
def test_ground_truth(embedded_site: Site, how: str, status: bytes) -> None:
    GroundTruthDirectory(embedded_site.settings).private_key()  # published, so that ground truth is taken
    with embedded_site.writing() as session:
        user = make_user(session, role=Role.ORGANISER)
        slug = make_challenge(session, organiser=user, ready=False).slug
        token = make_token(session, user)
    path = f"/api/v1/challenges/{slug}/ground-truth"
    assert b" %s " % status in answer(embedded_site, path, user, token, how, ARCHIVE)
    assert count(embedded_site, GroundTruthVersion) == 0
