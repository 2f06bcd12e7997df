"""A challenge of an organiser's own edition, from its file to a scored board, through the server and its worker."""

import io
import zipfile
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image
from sqlalchemy import select

from tests.evaluator.reference.instance_segmentation import encode
from tests.support.factories import make_truth
from tests.support.life import eventually, make_ready, submit
from tests.support.site import Site
from tests.support.small_world import packed
from tests.support.working import working
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges.service import get_visible
from vocboard.commands.main import main
from vocboard.evaluator.conversion.painting import indexed_png
from vocboard.evaluator.editions import read_text

EXAMPLES = Path(__file__).parents[3] / "docs" / "editions" / "examples"
AERIAL, INSTANCES = ((EXAMPLES / f"{name}.toml").read_text() for name in ("aerial", "instances"))
SIDE = 40
CORNERS = ("xmin", "ymin", "xmax", "ymax")
BOXES = {"city1": (1, 1, 20, 20), "city2": (5, 5, 24, 24), "field1": (11, 11, 30, 30)}
POOLS = [(3 * place + 1, top, 3 * place + 3, top + 2) for top in (34, 38) for place in range(12)]  # in city1
SETS = {"city": ("city1", "city2"), "country": ("field1",)}
# Two cars and a person: by image, each object's number, that of its class, and its first and last columns and rows.
CAR, PERSON = 1, 2
REGIONS = {"a": [(1, CAR, (0, 9, 0, 9)), (2, PERSON, (20, 29, 5, 24))], "b": [(1, CAR, (10, 29, 10, 19))]}
# The second car is found at an overlap of 0.6, enough for 0.5 and too little for 0.7. The first person is none.
FOUND = {
    "car": [("a", 0.9, (0, 9, 0, 9)), ("b", 0.5, (10, 21, 10, 19))],
    "person": [("b", 0.8, (0, 4, 0, 4)), ("a", 0.4, (20, 29, 5, 24))],
}


@pytest.fixture
def site(embedded_site: Site) -> Site:
    return embedded_site


def an_object(name: str, box: tuple[int, int, int, int]) -> str:
    corners = "".join(f"<{key}>{value}</{key}>" for key, value in zip(CORNERS, box, strict=True))
    return f"<object><name>{name}</name><difficult>0</difficult><bndbox>{corners}</bndbox></object>"


def label_map(box: tuple[int, int, int, int], label: int) -> bytes:
    pixels = np.zeros((SIDE, SIDE), dtype=np.uint8)
    left, top, right, bottom = box
    pixels[top - 1 : bottom, left - 1 : right] = label
    image = Image.fromarray(pixels)
    image.putpalette([value for index in range(256) for value in (index, 0, 0)])
    output = io.BytesIO()
    image.save(output, "PNG")
    return output.getvalue()


def tree() -> bytes:
    """Ground truth: one roof in each image, and its pixels; 24 small pools in one."""
    files: dict[str, bytes] = {}
    for name, images in SETS.items():
        listed = "".join(f"{image}\n" for image in images).encode()
        files[f"ImageSets/Main/{name}.txt"] = files[f"ImageSets/Segmentation/{name}.txt"] = listed
    for image, box in BOXES.items():
        objects = an_object("roof", box) + "".join(an_object("pool", each) for each in POOLS if image == "city1")
        size = f"<size><width>{SIDE}</width><height>{SIDE}</height><depth>3</depth></size>"
        files[f"Annotations/{image}.xml"] = (
            f"<annotation><filename>{image}.jpg</filename>{size}{objects}</annotation>"
        ).encode()
        files[f"SegmentationClass/{image}.png"] = label_map(BOXES[image], 2)
    return packed((f"Aerial/{name}", content) for name, content in files.items())


def results() -> bytes:
    """The right box in one city image and a wrong one before it; 16 of 24 pools; half the roof in the country."""
    detections = b"city2 0.9 30 30 39 39\ncity1 0.8 1 1 20 20\n"
    pools = "".join(f"city1 0.5 {' '.join(map(str, box))}\n" for box in POOLS[:16]).encode()
    half = (11, 11, 30, 20)
    return packed(
        [
            ("results/Aerial/detections/comp1_city_roof.txt", detections),
            ("results/Aerial/detections/comp1_city_pool.txt", pools),
            ("results/Aerial/maps/comp6_country/field1.png", label_map(half, 2)),
        ]
    )


def test_from_edition_file_to_scored_board(
    embedded_site: Site,
    organiser: httpx.Client,
    participant: httpx.Client,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with working(embedded_site.settings, tmp_path / "worker.log"):
        challenge = make_ready(organiser, tree(), slug="aerial", edition_file=AERIAL)
        described = participant.get(challenge).json()
        assert (described["edition"], described["edition_is_own"]) == ("Aerial", True)
        assert len(described["competitions"]) == 8
        assert described["competitions"][5]["declarations"] == ["training_annotation"]

        given = participant.get(f"{challenge}/edition")
        assert given.text == AERIAL
        assert 'filename="Aerial.toml"' in given.headers["content-disposition"]
        (tmp_path / "Aerial.toml").write_text(given.text)
        (tmp_path / "sets.json").write_bytes(participant.get(f"{challenge}/image-sets").content)
        (tmp_path / "results.tar.gz").write_bytes(results())
        files = [str(tmp_path / name) for name in ("Aerial.toml", "results.tar.gz", "sets.json")]
        assert main(["validate", *files[:2], "--image-sets", files[2]]) == 0, capsys.readouterr()

        fields = {"training_annotation": "segmentation_only"}
        submission = f"/api/v1/submissions/{submit(participant, challenge, results(), **fields)['id']}"
        eventually(lambda: participant.get(submission).json()["state"] == "scored")
    scored = participant.get(submission).json()
    assert scored["not_declared"] == []
    # Precision 1/2 at recall 1/2; 16 of 24 objects.
    assert scored["competitions"]["comp1"]["per_class"] == {"roof": 0.25, "pool": 0.6667}
    # Of 24 objects, in steps of a fifth; too few roofs.
    small = {"per_class": {"roof": None, "pool": 0.6}, "mean": 0.6}
    assert scored["competitions"]["comp1"]["secondary"]["average_precision_50_95_small"] == small
    assert scored["competitions"]["comp6"]["per_class"]["roof"] == 0.5
    assert participant.post(f"{submission}/publish").status_code == 200
    [row] = participant.get(f"{challenge}/leaderboards/comp6").json()["rows"]
    assert row["per_class"]["roof"] == 0.5
    assert row["declared"] == {"training_annotation": "segmentations only"}
    [row] = participant.get(f"{challenge}/leaderboards/comp1").json()["rows"]
    assert row["other_means"] == {"average_precision_50_95_small": 0.6}
    csv = participant.get(f"{challenge}/leaderboards/comp1.csv").text
    assert csv.rstrip().endswith(",n/a,0.6000")  # small roofs and pools
    assert ",0.4583,0.6000," in csv  # the means
    with embedded_site.client() as visitor:
        for page in ("", "/leaderboards/comp1", "/leaderboards/comp6"):
            assert visitor.get(f"/challenges/aerial{page}").status_code == 200


def instances() -> bytes:
    """Ground truth of instance segmentation."""
    tree = {"ImageSets/Segmentation/test.txt": "".join(f"{image}\n" for image in REGIONS).encode()}
    for image, regions in REGIONS.items():
        objects, classes = np.zeros((2, SIDE, SIDE), dtype=np.uint8)
        for number, kind, (left, right, top, bottom) in regions:
            objects[top : bottom + 1, left : right + 1] = number
            classes[top : bottom + 1, left : right + 1] = kind
        tree[f"SegmentationObject/{image}.png"] = indexed_png(objects)
        tree[f"SegmentationClass/{image}.png"] = indexed_png(classes)
    return packed((f"Instances/{name}", content) for name, content in tree.items())


def found_instances() -> bytes:
    """Results of instance segmentation."""
    files = {}
    for name, regions in FOUND.items():
        lines = []
        for image, confidence, (left, right, top, bottom) in regions:
            pixels = {(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)}
            lines.append(f"{image} {confidence} {encode(pixels, SIDE, SIDE)}\n")
        files[f"comp1_inst_test_{name}.txt"] = "".join(lines).encode()
    return packed(files.items())


def test_instance_segmentation_is_scored_at_two_overlaps(
    embedded_site: Site, organiser: httpx.Client, participant: httpx.Client, tmp_path: Path
) -> None:
    with working(embedded_site.settings, tmp_path / "worker.log"):
        challenge = make_ready(organiser, instances(), slug="instances", edition_file=INSTANCES)
        submission = f"/api/v1/submissions/{submit(participant, challenge, found_instances())['id']}"
        eventually(lambda: participant.get(submission).json()["state"] == "scored")
    scores = participant.get(submission).json()["competitions"]["comp1"]
    assert (scores["per_class"], scores["mean"]) == ({"car": 1.0, "person": 0.5}, 0.75)
    assert scores["secondary"]["region_average_precision_70"] == {"per_class": {"car": 0.5, "person": 0.5}, "mean": 0.5}
    assert participant.post(f"{submission}/publish").status_code == 200
    [row] = participant.get(f"{challenge}/leaderboards/comp1").json()["rows"]
    assert (row["mean"], row["other_means"]) == (0.75, {"region_average_precision_70": 0.5})
    with embedded_site.client() as visitor:
        page = visitor.get("/challenges/instances/leaderboards/comp1").text
    assert "75.00" in page
    assert "50.00" in page


def new(client: httpx.Client, **fields: Any) -> httpx.Response:
    return client.post("/api/v1/challenges", json={"slug": "own", "title": "Own", **fields})


def test_a_wrong_file_is_reported_line_by_line(organiser: httpx.Client) -> None:
    wrong = AERIAL.replace('title = "V', 'titel = "V').replace("threshold = 0.5", "threshold = 5")
    answer = new(organiser, edition_file=wrong)
    assert answer.status_code == 422
    assert answer.json()["fields"]["edition_file"].split("\n") == [
        "edition file: title must be a text, but it is missing.",
        "edition file:3: titel: no such key. Did you mean title?",
        "edition file:7: overlap.threshold must be a fraction, from 0 to 1, not 5.",
    ]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"edition_file": AERIAL.replace('"Aerial"', '"voc2012"')}, "edition_file"),
        ({"edition_file": AERIAL.replace('"pool"', '"Mean"')}, "edition_file"),  # a column of leaderboards
        ({"edition_file": AERIAL, "edition": "VOC2012"}, "edition"),
        ({"edition_file": ""}, "edition_file"),
        ({}, "edition"),
        ({"edition_file": AERIAL, "competitions": ["comp9"]}, "competitions"),
    ],
)
def test_editions_that_cannot_be_are_refused(organiser: httpx.Client, fields: dict[str, Any], wrong: str) -> None:
    answer = new(organiser, **fields)
    assert answer.status_code == 422
    assert set(answer.json()["fields"]) == {wrong}


def test_an_edition_can_be_replaced_until_there_is_ground_truth(embedded_site: Site, organiser: httpx.Client) -> None:
    assert new(organiser, edition_file=AERIAL).status_code == 201
    fewer = AERIAL[: AERIAL.index("[[competitions]]\nnumber = 5")].replace('"Aerial"', '"Aerial2"')
    answer = organiser.put("/api/v1/challenges/own/edition", json={"edition_file": fewer})
    assert answer.status_code == 200
    assert [item["key"] for item in answer.json()["competitions"]] == ["comp1", "comp2", "comp3", "comp4"]
    assert read_text(organiser.get("/api/v1/challenges/own/edition").text, "it").name == "Aerial2"
    with embedded_site.writing() as session:
        user = session.scalars(select(User).where(User.role == Role.ORGANISER)).first()
        make_truth(session, get_visible(session, "own", user))
    answer = organiser.put("/api/v1/challenges/own/edition", json={"edition_file": AERIAL})
    assert answer.status_code == 409


def test_the_file_of_an_edition_of_vocboard_can_be_had(organiser: httpx.Client) -> None:
    assert new(organiser, edition="VOC2007").status_code == 201
    assert 'name = "VOC2007"' in organiser.get("/api/v1/challenges/own/edition").text


def test_a_challenge_is_rehearsed_with_its_samples(
    site: Site, organiser: httpx.Client, participant: httpx.Client, tmp_path: Path
) -> None:
    new = {"slug": "draft", "title": "Draft", "edition_file": AERIAL}
    draft = organiser.post("/api/v1/challenges", json=new).headers["location"]
    answer = organiser.get(f"{draft}/samples", timeout=120)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert participant.get(f"{draft}/samples").status_code == 403
    with zipfile.ZipFile(io.BytesIO(answer.content)) as samples:
        tree, archive = samples.read("ground-truth.tar.gz"), samples.read("results.tar.gz")
    with working(site.settings, tmp_path / "worker.log"):
        challenge = make_ready(organiser, tree, slug="aerial", edition_file=AERIAL)
        rehearsal = organiser.post(
            f"{challenge}/submissions?rehearsal=true",
            data={"method_name": "Sample", "training_data": "The samples", "training_annotation": "segmentation_only"},
            files={"archive": ("results.tar.gz", archive)},
        )
        assert rehearsal.status_code == 201, rehearsal.text
        path = rehearsal.headers["location"]
        eventually(lambda: organiser.get(path).json()["state"] == "scored")
    competitions = organiser.get(path).json()["competitions"]
    assert competitions["comp1"]["mean"] > 0.1  # confidences are within the edition's range, and in order
