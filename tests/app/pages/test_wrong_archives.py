"""Ten archives as newcomers pack them: the page says first what to do, and the corrected archive is accepted."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.browsing import from_here, sign_in, token_of
from tests.support.factories import make_token, make_user
from tests.support.services import make_tables
from tests.support.site import Site, serving
from tests.support.wrong_archives import CASES, TRAINING_DATA, WrongArchive, challenge
from vocboard.app.settings import Settings


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    settings = Settings(data_directory=tmp_path_factory.mktemp("wrong-archives"))
    make_tables(settings)
    with serving(settings) as running:
        yield running


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_page_says_first_what_to_do(case: WrongArchive, site: Site) -> None:
    with site.writing() as session:
        path, email = f"/challenges/{challenge(session).slug}/submit", make_user(session).email
    with site.client() as client:
        sign_in(client, email)
        refused = upload(client, path, case.file_name, case.wrong())
        assert refused.status_code == 422
        (heading,) = re.findall(r'<h2 id="report-title">(.*?)</h2>', refused.text, re.DOTALL)
        said = html.unescape(re.sub(r"<[^>]+>", "", heading))
        assert said == f"{case.counted}. No quota was used. {case.to_do}"
        assert refused.text.index(heading) < refused.text.index('name="archive"')
        accepted = upload(client, path, case.file_name, case.corrected())
        assert accepted.status_code == 303, accepted.text
        assert accepted.headers["location"].startswith("/submissions/")


def upload(client: httpx.Client, path: str, name: str, archive: bytes) -> httpx.Response:
    return client.post(
        path,
        data={"csrf_token": token_of(client.get(path)), "method_name": "Mine", "training_data": TRAINING_DATA},
        files={"archive": (name, archive)},
        headers=from_here(client),
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_api_says_the_same_first(case: WrongArchive, site: Site) -> None:
    with site.writing() as session:
        slug, token = challenge(session).slug, make_token(session, make_user(session))
    with site.client(token) as client:
        answer = client.post(
            f"/api/v1/challenges/{slug}/submissions",
            data={"method_name": "Mine", "training_data": TRAINING_DATA},
            files={"archive": (case.file_name, case.wrong())},
        )
    assert answer.status_code == 422
    content = answer.json()
    assert content["groups"][0]["headline"] == case.to_do
    assert len(content["groups"][0]["places"]) <= 3
    counted = {group["code"]: group["count"] for group in content["groups"]}
    listed = [problem["code"] for problem in content["problems"]]
    assert all(number >= listed.count(code) for code, number in counted.items())
    assert set(counted) == set(listed) - {"more_problems", "more_warnings", "reading_stopped"}


def test_the_command_line_says_the_same(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from vocboard.commands.main import main  # noqa: PLC0415

    monkeypatch.setenv("COLUMNS", "120")
    with site.writing() as session:
        slug, token = challenge(session).slug, make_token(session, make_user(session))
    with site.client(token) as client:
        image_sets = tmp_path / "image-sets.json"
        image_sets.write_text(client.get(f"/api/v1/challenges/{slug}/image-sets").text)
    for case in CASES:
        archive = tmp_path / f"{case.name}-{case.file_name}"
        archive.write_bytes(case.wrong())
        assert main(["validate", "VOC2012", str(archive), "--image-sets", str(image_sets)]) == 1
        out = " ".join(capsys.readouterr().out.split())
        # The command checks for all competitions of the edition, the challenge has two of them.
        assert out.startswith(f"error: {re.split('[;.]', case.to_do)[0]}")
        assert out.rstrip(".").endswith(case.counted)
