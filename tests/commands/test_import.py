"""`vocboard import`: drafts from bundles of other servers, made here in their shapes."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.factories import make_challenge, make_organiser, make_token
from tests.support.site import Site, serving
from vocboard.app.leaderboards.reported import MAX_REPORTED
from vocboard.app.settings import Settings
from vocboard.client.connection import Connection
from vocboard.client.errors import ClientError, MisdirectedError, NetworkError
from vocboard.commands.main import main
from vocboard.commands.moving import create
from vocboard.commands.moving.draft import Column, Draft, Rules
from vocboard.commands.moving.results import reports

pytestmark = pytest.mark.usefixtures("own_settings")

EDITION = """
name = "Docks"
title = "Docks"
classes = ["crane", "buoy"]
[tasks.detection]
file = "Main/{competition}_det_{image_set}.txt"
metric = "average_precision"
interpolation = "area"
[[competitions]]
number = 1
task = "detection"
training = "any"
image_set = "test"
"""

CODABENCH = {
    "competition.yaml": """
version: 2
title: Find the cranes
description: A challenge about cranes.
image: logo.png
terms: pages/terms.md
contact_email: docks@lab.example
reward: 100 shells
docker_image: some/image
fact_sheet: {gpu: {title: GPU}}
pages:
  - {title: Overview, file: pages/overview.md}
  - {title: Book, file: pages/book.html}
  - {title: Elsewhere, file: ../../etc/passwd}
  - {title: Terms, file: pages/terms.md}
tasks:
  - {index: 0, name: Dev, scoring_program: scoring/, reference_data: dev/}
  - {index: 1, name: Test, scoring_program: scoring/, reference_data: test/}
phases:
  - {index: 1, name: Final, start: 2027-03-01 12:00:00, end: 2027-03-08T00:00:00+02:00, max_submissions: 3,
     max_submissions_per_day: 0, tasks: [1]}
  - {index: 0, name: Practice, description: To warm up., start: 1-15-2027, end: 2-28-2027,
     max_submissions_per_day: 4, max_submissions: 20, execution_time_limit: 600, tasks: [0]}
leaderboards:
  - title: Results
    key: main
    hidden: True
    columns:
      - {title: AP75, key: ap75, index: 1, sorting: desc}
      - {title: AP50, key: ap50, index: 0, sorting: desc, precision: 3}
""",
    "pages/overview.md": "# Overview\nFind <b>cranes</b>.<script>alert(1)</script>\n\n![x](x.png) [Data](https://lab.example)",
    "pages/book.html": f"<p>{'word ' * 5000}</p>",
    "pages/terms.md": "Be *fair*.",
}
CODALAB = {
    "competition.yaml": """
title: Count the buoys
description: A challenge about buoys.
has_registration: False
end_date: 2027-05-01
enable_teams: True
anonymous_leaderboard: True
html: {data: data.html, overview: overview.html, terms: missing.html}
phases:
  1: {phasenumber: 1, label: !!python/unicode First, start_date: 2027-01-01, max_submissions_per_day: 9,
      reference_data: a.zip}
  2: {phasenumber: 2, label: Second, start_date: 2027-02-01 05:00:00+02:00, reference_data: a.zip, color: red}
leaderboard:
  leaderboards: {RESULTS: &R {label: Results, rank: 1}}
  columns:
    error: {leaderboard: *R, label: Error, rank: 2, sort: asc}
    recall: {leaderboard: *R, label: Recall, rank: 1, numeric_format: 9}
""",
    "data.html": "<html><head><title>x</title></head><table><tr><td>a</td><td>b</td></tr></table>",
    "overview.html": "<h1>Buoys</h1><ul><li>one<li><a href='javascript:1'>two</a></ul><img src=x>",
}
EVALAI = {
    "challenge_config.yaml": """
title: Docks at night
anonymous_leaderboard: true
short_description: %s
description: templates/description.html
terms_and_conditions: templates/terms.html
evaluation_script: evaluation_script.zip
allowed_email_domains: ["@lab.example"]
leaderboard:
  - {id: 1, schema: {labels: [Speed, mAP], default_order_by: mAP, metadata: {Speed: {sort_ascending: True}}}}
challenge_phases:
  - {id: 1, name: Dev, description: templates/dev.html, leaderboard_public: False, codename: dev, max_submissions: 20,
     start_date: 2027-01-19 00:00:00, end_date: 2027-04-25 23:59:59, max_submissions_per_month: 10}
  - {id: 2, name: Dev, start_date: 2027-01-19 00:00:00, end_date: 2027-01-01 00:00:00, test_annotation_file: b.txt}
  - {id: 3, name: Test, leaderboard_public: True, test_annotation_file: a.txt}
challenge_phase_splits:
  - {challenge_phase_id: 3, leaderboard_id: 1, visibility: 3, leaderboard_decimal_precision: 2}
"""
    % ("word " * 50),
    "templates/description.html": "<p>Docks, <em>at night</em>.",
    "templates/terms.html": "<p>Sleep enough.",
    "templates/dev.html": "<p>A first try.",
}


class Importer:
    """An organiser of a server, with the program."""

    def __init__(
        self, site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder, self._capsys = folder, capsys
        with site.writing() as session:
            organiser = make_organiser(session)
            make_challenge(session, organiser=organiser, slug="taken")
            self.token = make_token(session, organiser)
        self.url = site.url
        monkeypatch.setenv("VOCBOARD_SERVER", site.url)
        monkeypatch.setenv("VOCBOARD_TOKEN", self.token)
        self.edition = str(folder / "docks.toml")
        Path(self.edition).write_text(EDITION)

    def __call__(self, *arguments: str, status: int = 0) -> str:
        """Run the program; return what it printed in one line, or its error."""
        assert main(["import", *arguments]) == status
        out, err = self._capsys.readouterr()
        return " ".join((err if status else out).split())

    def get(self, path: str) -> httpx.Response:
        return self._ask("GET", path)

    def send(self, method: str, path: str, body: Mapping[str, str]) -> None:
        self._ask(method, path, body).raise_for_status()

    def _ask(self, method: str, path: str, body: Mapping[str, str] | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.request(method, f"{self.url}/api/v1/challenges/{path}", headers=headers, json=body)

    def write(self, files: Mapping[str, str]) -> Path:
        """Write a bundle as a directory."""
        bundle = self.folder / "bundle"
        for name, content in files.items():
            (bundle / name).parent.mkdir(parents=True, exist_ok=True)
            (bundle / name).write_text(content)
        return bundle


@pytest.fixture
def importer(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Importer]:
    with serving(Settings(data_directory=tmp_path / "data", database_url=sqlite_url)) as site:
        yield Importer(site, tmp_path, monkeypatch, capsys)


def test_a_bundle_of_codabench_with_its_leaderboard(importer: Importer) -> None:
    bundle = importer.folder / "cranes.zip"
    with zipfile.ZipFile(bundle, "w") as archive:
        for name, content in CODABENCH.items():
            archive.writestr(f"cranes/{name}", content)
    results = importer.folder / "results.csv"
    results.write_text(
        "Username,fact_sheet_answers,Test(7)-AP50,Test(7)-AP75,crane\r\n"
        "bob-12,,61.5,40,70\r\nada-9,,73.25,51,\r\neve-3,,,,\r\n"
    )
    assert "Nothing is created." in importer("codabench", str(bundle), "--dry-run")
    assert importer.get("find-the-cranes").status_code == 404
    own = ["--edition-file", importer.edition, "--results", str(results), "--percent", "--source", "https://a.example"]
    said = importer("codabench", str(bundle), *own)
    for part in (
        "phases[1].start: “1-15-2027” is read as 15 January 2027.",
        "The page “Elsewhere” is left out: ../../etc/passwd is not in the bundle.",
        "The page “Book” is left out: its 25,007 characters do not fit into the 20,000 of a description.",
        "Pictures of the page “Overview” are left out (1)",
        "“Practice”, “Final” had a hidden leaderboard. Here it is hidden until the phase closes.",
        "“Practice” also had a limit of 20 in all.",
        "“Practice” was scored with data of its own.",
        "1 of 3 results have no score",
        "The columns AP50, AP75: which ones",
        "image: upload it with",
        "docker_image: results are scored by this server",
        "fact_sheet: let the edition file ask for declarations",
        "tasks.scoring_program: the edition file says how",
        "phases.execution_time_limit: the operator limits scoring",
        f"The draft is at {importer.url}/organise/find-the-cranes.",
    ):
        assert part in said
    challenge = importer.get("find-the-cranes").json()
    assert (challenge["visibility"], challenge["decimals"], challenge["team_size"]) == ("draft", 3, 1)
    assert (challenge["summary"], challenge["contact"]) == ("A challenge about cranes.", "docks@lab.example")
    assert challenge["description"] == (
        "# Overview\n\nFind **cranes**.\n\n[Data](https://lab.example)\n\n# Reward\n\n100 shells\n\n"
        "# Phases\n\n**Practice**: To warm up."
    )
    practice, main_phase = challenge["phases"]
    assert [one["title"] for one in challenge["phases"]] == ["Practice", "Final"]
    assert (practice["key"], practice["has_own_ground_truth"], main_phase["key"]) == ("practice", True, "main")
    assert (practice["opens_at"], practice["closes_at"]) == ("2027-01-15T00:00:00Z", "2027-02-28T00:00:00Z")
    assert (main_phase["opens_at"], main_phase["closes_at"]) == ("2027-03-01T12:00:00Z", "2027-03-07T22:00:00Z")
    assert (practice["quota"]["count"], practice["quota"]["period_seconds"]) == (4, 86_400)
    assert (main_phase["quota"]["count"], main_phase["quota"]["period_seconds"]) == (3, 554_400)
    assert (main_phase["detail"], main_phase["admission"]) == ("mean", "request")
    assert importer.get("find-the-cranes/terms").json()["text"] == "Be *fair*."
    importer.send("PATCH", "find-the-cranes", {"detail": "classes"})  # at first, people see means only
    rows = importer.get("find-the-cranes/leaderboards/comp1/reported?phase=main").json()
    assert [(row["method"], row["mean"], row["per_class"].get("crane"), row["note"]) for row in rows] == [
        ("ada", 0.7325, None, "AP75 51"),
        ("bob", 0.615, 0.7, "AP75 40"),
    ]
    assert {(row["kind"], row["reference"]) for row in rows} == {("imported", "https://a.example")}
    assert "already taken" in importer("codabench", str(bundle), *own, status=2)


def test_a_bundle_of_codalab(importer: Importer) -> None:
    """Without an edition, which organisers replace then."""
    said = importer("codalab", str(importer.write(CODALAB)), "--slug", "buoys")
    assert "Replace its sample edition there by your own edition file" in said
    assert "The page “Terms” is left out: missing.html is missing in the bundle." in said
    assert "The columns Recall, Error (smaller is better): which ones" in said
    challenge = importer.get("buoys").json()
    assert challenge["description"] == ("# Overview\n\n# Buoys\n\n- one\n- two\n\n# Data\n\n| a | b |\n| --- | --- |")
    assert (challenge["decimals"], challenge["team_size"]) == (6, 10)
    first, second = challenge["phases"]
    assert (first["closes_at"], second["opens_at"]) == ("2027-02-01T03:00:00Z", "2027-02-01T03:00:00Z")
    assert second["closes_at"] == second["anonymous_until"] == "2027-05-01T00:00:00Z"
    assert [one["quota"]["count"] for one in (first, second)] == [9, 5]
    assert (first["has_own_ground_truth"], first["admission"]) == (False, "everyone")
    assert challenge["edition"] == "Sample"
    own = EDITION.replace("number = 1", "number = 4")
    importer.send("PUT", "buoys/edition", {"edition_file": own})
    challenge = importer.get("buoys").json()
    assert (challenge["edition"], [one["competitions"] for one in challenge["phases"]]) == ("Docks", [["comp4"]] * 2)


def test_a_configuration_of_evalai_with_its_leaderboard(importer: Importer) -> None:
    bundle = importer.write(EVALAI)
    results = importer.folder / "board.json"
    row = {"leaderboard__schema": {"labels": ["Speed", "mAP"]}, "result": [3, 0.5]}
    board = {"results": [row | {"submission__participant_team__team_name": "Gulls"}], "next": None}
    results.write_text(json.dumps(board | {"next": "https://a.example/?page=2"}))
    arguments = [str(bundle / "challenge_config.yaml"), "--edition-file", importer.edition, "--results", str(results)]
    assert "is one page of several" in importer("evalai", *arguments, status=2)
    results.write_text(json.dumps(board))
    said = importer("evalai", *arguments)
    assert ": 1 page, 63 characters, terms, 1 result Dev: " in said
    for part in (
        "The summary is cut to 160 characters.",
        "“Dev” had a hidden leaderboard. Here it is hidden until the phase closes.",
        "“Dev” also had a limit of 20 in all.",
        "“Dev” would not end after it begins. The end, 2027-01-01 00:00 UTC, is left out.",
        "“Test” had no limit of submissions.",
        "The columns mAP, Speed (smaller is better): which ones",
    ):
        assert part in said
    challenge = importer.get("docks-at-night").json()
    assert challenge["description"].startswith("# Overview\n\nDocks, *at night*.\n\n# Phases\n\n**Dev**: A first try.")
    assert {one["key"] for one in challenge["phases"]} == {"dev", "dev-2", "main"}
    [dev] = [one for one in challenge["phases"] if one["key"] == "dev"]
    assert (dev["admission_domains"], dev["anonymous_until"]) == (["lab.example"], "2027-04-25T23:59:59Z")
    assert importer.get("docks-at-night/terms").json()["text"] == "Sleep enough."
    [row] = importer.get("docks-at-night/leaderboards/comp1/reported?phase=main").json()
    assert (row["method"], row["mean"], row["note"]) == ("Gulls", 0.5, "Speed 3")


BOMB = "a: &a {x: 1}\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(12)
)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("title: [", "is not valid YAML"),
        ("title: \x00", "is not valid YAML"),
        ("date: 2027-02-30", "is not valid YAML: day is out of range"),
        ("[" * 500, "is not valid YAML"),
        ("&a [*a]", "it has too many values"),
        (BOMB, "it has too many values"),
        ("!!python/object/apply:os.system [exit]", "is not valid YAML"),
        ("x: " + "y" * 1024**2, "is larger than 1 MiB"),
        ("just text", "The configuration has to be a mapping"),
    ],
    ids=["bracket", "null", "date", "nested", "itself", "aliases", "object", "large", "text"],
)
def test_configurations_that_are_refused(
    config: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "competition.yaml").write_text(config)
    assert main(["import", "codalab", str(tmp_path)]) == 2
    assert expected in capsys.readouterr().err


def test_everything_that_is_wrong_is_said_at_once(importer: Importer) -> None:
    config = {"version": 2, "title": {"a": 1}, "phases": [{"name": "A", "start": "soon", "max_submissions": "many"}, 7]}
    bundle = str(importer.write({"competition.yaml": json.dumps(config)}))
    results = importer.folder / "results.csv"
    results.write_text("team,error\nGulls,3.5\nTerns,x\n")
    wanted = ["--results", str(results), "--results-column", "error", "--edition", "VOC1999", "--source", "here"]
    said = importer("codabench", bundle, *wanted, status=2)
    for part in (
        "title has to be a text, not “{'a': 1}”.",
        "phases[0].start has to be a date, not “soon”.",
        "phases[0].max_submissions has to be a number, not “many”.",
        "phases[1] has to be a mapping",
        "edition: ",
        "source: Enter a whole address",
        "result 1: mean: Give a fraction from 0 to 1.",
        "result 2: mean: “x” is not a number.",
        "give --percent",
    ):
        assert part in said


def test_files_outside_of_the_bundle_are_not_read(importer: Importer) -> None:
    config = "version: 2\ntitle: T\npages:\n" + "".join(
        f"  - {{title: {title}, file: {file}}}\n"
        for title, file in (
            ("Up", "../secret.md"),
            ("Root", importer.folder / "secret.md"),
            ("Link", "link.md"),
            ("Large", "large.md"),
        )
    )
    bundle = importer.write({"competition.yaml": config, "large.md": "x" * (2 * 1024**2 + 1)})
    (importer.folder / "secret.md").write_text("secret")
    (bundle / "link.md").symlink_to(importer.folder / "secret.md")
    said = importer("codabench", str(bundle))
    assert [said.count(reason) for reason in ("is not in the bundle", "is missing", "is larger than 2 MiB")] == [
        2,
        1,
        1,
    ]
    assert importer("codabench", str(importer.folder / "nowhere"), status=2).endswith("nowhere does not exist")
    (importer.folder / "empty").mkdir()
    assert "has no competition.yaml" in importer("codabench", str(importer.folder / "empty"), status=2)


def test_a_draft_is_whole_or_not_there(importer: Importer) -> None:
    challenge = {"slug": "half", "title": "Half", "edition_file": EDITION}
    rules = Rules(challenge, [{"key": "NOT A KEY", "title": "Phase"}], "", [])
    with Connection(importer.url, importer.token) as connection, pytest.raises(MisdirectedError, match="key"):
        create(connection, rules, [], "")
    assert importer.get("half").status_code == 404
    with Interrupted(importer.url, importer.token) as connection, pytest.raises(KeyboardInterrupt):
        create(connection, rules, [], "")
    assert importer.get("half").status_code == 404
    with Connection(importer.url, importer.token) as connection, pytest.raises(MisdirectedError, match="taken"):
        create(connection, Rules(challenge | {"slug": "taken"}, [], "", []), [], "")
    assert importer.get("taken").status_code == 200
    with Dying(importer.url, importer.token) as connection, pytest.raises(ClientError, match="half is incomplete"):
        create(connection, rules, [], "")


class Interrupted(Connection):
    """A connection of somebody who presses Ctrl-C after the challenge was created."""

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, method: str = "POST") -> Any:
        if path.endswith("/phases"):
            raise KeyboardInterrupt
        return super().post(path, body, method=method)


class Dying(Connection):
    """A connection that is lost after the challenge was created."""

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, method: str = "POST") -> Any:
        if path != "/challenges":
            raise NetworkError("the connection was lost")
        return super().post(path, body, method=method)


def test_the_best_results_are_carried_over_whatever_the_file_calls_the_column(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    file.write_text("team,err\n" + "".join(f"Team {number},0.{number:02}\n" for number in range(60)))
    draft = Draft("Gulls", columns=[Column("Mean error", "err", is_ascending=True)])
    rows = reports(file, draft, column="", is_percent=False, classes=(), source="")
    assert (len(rows), rows[0]["mean"], rows[-1]["mean"]) == (MAX_REPORTED, 0.0, 0.49)
