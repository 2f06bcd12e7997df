"""Checking before submitting: an upload without submitting it, and refusing entries that leave out classes."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from tests.support.factories import make_organiser, make_token, make_user
from tests.support.life import upload_results
from tests.support.phases import main_phase
from tests.support.site import Site
from tests.support.wrong_archives import TRAINING_DATA, challenge, detections, tar
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.intake import attempts
from vocboard.app.intake.models import Upload
from vocboard.app.organising.phase_changes import add_phase
from vocboard.client.client import Client
from vocboard.client.errors import WarningsNotAcceptedError
from vocboard.commands.main import main

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
    with embedded_site.database.reading() as session:
        rejected = attempts.rejected(session, target.id, kept_for=timedelta(days=1))
        assert session.scalars(select(Upload.address)).all() == [""]
    assert not report["valid"]
    assert (rejected.uploads, rejected.people) == (1, 1)
    assert [code for code, _, _ in rejected.codes] == sorted({problem["code"] for problem in report["problems"]})
    assert report["groups"][0]["count"] == 1_200
    assert report["groups"][0]["documentation"] == f"/docs/problems#{report['groups'][0]['code']}"
    assert nothing["total"] == 0


def test_a_rejected_rehearsal_is_not_counted(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        target, token = challenge(session, organiser=organiser), make_token(session, organiser)
    with embedded_site.client(token) as client:
        answers = [
            client.post(
                f"/api/v1/challenges/{target.slug}/submissions?rehearsal={rehearsal}",
                data=FORM,
                files={"archive": ("results.tar", tar(detections(comma=True)))},
            )
            for rehearsal in ("true", "false")
        ]
    assert [answer.status_code for answer in answers] == [422, 422]
    with embedded_site.database.reading() as session:
        assert attempts.rejected(session, target.id, kept_for=timedelta(days=1)).uploads == 1


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
        answer = upload_results(client, target.slug, tar(detections(comma=True)), method_name="").json()
    assert answer["code"] == "invalid_archive"
    assert answer["problems"]
    assert set(answer["fields"]) == {"method_name", "training_data"}


class TestResultsThatSeemWrong:
    """Boxes as fractions of the image: valid, and useless."""

    ARCHIVE = tar({name: text.replace(b" 3.5 4.5 20 25", b" 0.1 0.1 0.6 0.8") for name, text in detections().items()})

    def test_are_refused_without_quota_unless_they_are_accepted(
        self, embedded_site: Site, target: Challenge, token: str
    ) -> None:
        def send(**fields: str) -> httpx.Response:
            return upload_results(client, target.slug, self.ARCHIVE, **{**FORM, **fields})

        with embedded_site.client(token) as client:
            refused, again = send(), send(accept_warnings="false")
            none = client.get("/api/v1/submissions").json()
            accepted = send(accept_warnings="true")
        assert (refused.status_code, again.status_code, none["total"]) == (422, 422, 0)
        assert refused.json()["code"] == "warnings_not_accepted"
        assert refused.json()["groups"][0]["code"] == "boxes_as_fractions"
        assert "results of comp4" in refused.json()["detail"]
        assert accepted.status_code == 201, accepted.text
        assert accepted.json()["warnings"][0]["code"] == "boxes_as_fractions"

    def test_a_resumable_upload_waits_for_the_answer(self, embedded_site: Site, target: Challenge, token: str) -> None:
        with embedded_site.client(token) as client:
            upload = uploaded(client, target.slug, self.ARCHIVE)
            report = client.post(f"/api/v1/uploads/{upload}/check").json()
            answers = [
                client.post(
                    f"/api/v1/challenges/{target.slug}/submissions?upload={upload}",
                    files={name: (None, text) for name, text in {**FORM, **fields}.items()},
                )
                for fields in ({}, {"accept_warnings": "true"})
            ]
            later = uploaded(client, target.slug, self.ARCHIVE)
            repeated = client.post(f"/api/v1/uploads/{later}/check").json()
            with embedded_site.writing() as session:
                main_phase(session, target.id).quota_count = 1
            used_up = client.post(f"/api/v1/uploads/{later}/check").json()
        assert (report["valid"], report["needs_accept_warnings"]) == (True, True)
        assert (report["identical_submission"], report["allowed_at"]) == (None, None)
        assert [answer.status_code for answer in answers] == [422, 201]
        assert (repeated["identical_submission"], repeated["allowed_at"]) == (answers[1].json()["id"], None)
        assert used_up["allowed_at"] is not None

    def test_the_client_and_the_command_pass_the_answer_on(
        self,
        embedded_site: Site,
        target: Challenge,
        token: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        archive = tmp_path / "results.tar.gz"
        archive.write_bytes(self.ARCHIVE)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        monkeypatch.setenv("VOCBOARD_SERVER", embedded_site.url)
        monkeypatch.setenv("VOCBOARD_TOKEN", token)
        command = ["submit", target.slug, str(archive), "--method", "Mine", "--training-data", TRAINING_DATA]
        assert main([*command, "--flickr-images", "no"]) == 1
        printed = capsys.readouterr()
        assert printed.out.startswith("warning: ")
        assert "[boxes_as_fractions]" in printed.out.partition("\n\n")[0]
        assert "--accept-warnings submits these results" in printed.out
        assert "results of comp4" in printed.err
        with Client(embedded_site.url, token=token) as client:
            with pytest.raises(WarningsNotAcceptedError):
                client.submit(target.slug, archive, method="Mine", training_data=TRAINING_DATA)
            done = client.submit(target.slug, archive, method="Mine", training_data=TRAINING_DATA, accept_warnings=True)
        assert done.warnings[0].code == "boxes_as_fractions"

    def test_what_was_uploaded_for_a_phase_that_has_closed_is_sent_again_for_the_next(
        self, embedded_site: Site, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with embedded_site.writing() as session:
            organiser = make_organiser(session)
            target = challenge(session, organiser=organiser)
            rules = PhaseRules(competitions=("comp4",), opens_at=now() - timedelta(hours=1))
            add_phase(session, challenge=target, user=organiser, key="next", title="Next", rules=rules)
            main_phase(session, target.id).opens_at = now()
        archive = tmp_path / "results.tar.gz"
        archive.write_bytes(self.ARCHIVE)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        with Client(embedded_site.url, token=token) as client:
            with pytest.raises(WarningsNotAcceptedError):
                client.submit(target.slug, archive, method="Mine", training_data=TRAINING_DATA)
            with embedded_site.writing() as session:
                main_phase(session, target.id).closes_at = now() - timedelta(hours=2)
            done = client.submit(target.slug, archive, method="Mine", training_data=TRAINING_DATA, accept_warnings=True)
        assert done.phase == "next"


def test_names_that_a_request_leaves_out_are_those_that_the_form_fills_in(
    embedded_site: Site, target: Challenge
) -> None:
    with embedded_site.writing() as session:
        token = make_token(session, make_user(session, name="Ann Author", affiliation="Institute"))

    def names(*, withdraw: bool = False, **fields: str) -> tuple[str, str]:
        answer = upload_results(client, target.slug, without("bird"), **{**FORM, **fields})
        path = f"/api/v1/submissions/{answer.json()['id']}"
        method = client.get(path).json()["method"]
        if withdraw:
            assert client.post(f"{path}/withdraw").status_code == 200
        return method["contributors"], method["affiliation"]

    with embedded_site.client(token) as client:
        assert names() == ("Ann Author", "Institute")
        assert names(contributors="A. Author, B. Author") == ("A. Author, B. Author", "Institute")
        assert names(contributors="", affiliation="") == ("", ""), "left empty on purpose"
        assert names() == ("Ann Author", "Institute")
        assert names(contributors="Withdrawn", withdraw=True) == ("Withdrawn", "Institute")
        assert names() == ("Ann Author", "Institute"), "not those of a withdrawn one"
