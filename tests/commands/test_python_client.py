"""`vocboard.Client` against a real server with a real worker: all that a participant does, from a script."""

from pathlib import Path

import pytest

import vocboard
from tests.commands.board import COMPETITIONS, Board
from tests.python_examples import PYTHON_PAGE, blocks, needs_server, run
from vocboard.client.client import WaitTimeoutError
from vocboard.client.errors import InvalidArchiveError, MisuseError, RefusedError

pytestmark = pytest.mark.usefixtures("own_settings")


@pytest.fixture
def client(board: Board) -> vocboard.Client:
    with vocboard.Client(board.url, board.token()) as opened:
        yield opened


def test_from_upload_to_leaderboard_and_off_it(client: vocboard.Client, board: Board, archive: Path) -> None:
    assert client.server == board.url
    assert "voc" in [challenge.slug for challenge in client.challenges()]
    assert client.challenge("voc").phase == "open"
    checked = vocboard.validate(archive, client.edition("voc"), client.image_sets("voc"))
    assert checked.is_valid
    assert checked.items_checked

    sent: list[tuple[int, int]] = []
    accepted = client.submit(
        "voc", archive, method="Scripted", contributors="Ann", progress=lambda done, total: sent.append((done, total))
    )
    assert sent[-1] == (archive.stat().st_size, archive.stat().st_size)
    steps: list[str] = []
    ended = client.wait(accepted.id, timeout=120, progress=lambda step: steps.append(step.state))
    assert (ended.state, steps[-1]) == ("scored", "scored")
    assert client.status(accepted.id).is_final
    assert accepted.id in [submission.id for submission in client.submissions()]

    results = client.results(accepted.id)
    assert set(results) == set(COMPETITIONS)
    truth = vocboard.read_ground_truth(board.tree, "VOC2012")
    here = vocboard.evaluate(archive, "VOC2012", truth)
    assert results["comp3"].metric == here["comp3"].metric
    assert results["comp3"].mean == pytest.approx(here["comp3"].mean, abs=1e-4)
    assert results["comp3"].per_class == pytest.approx(here["comp3"].per_class, abs=1e-4)
    curve = next(iter(client.curves(accepted.id, "comp3").values()))
    assert len(curve["recall"]) == len(curve["precision"])

    assert client.publish(accepted.id).published_at is not None
    assert "Scripted" in [row.method for row in client.leaderboard("voc", "comp3").rows]
    assert client.anonymous_link(accepted.id).startswith("http")
    assert client.unpublish(accepted.id).published_at is None
    assert "Scripted" not in [row.method for row in client.leaderboard("voc", "comp3").rows]
    assert client.withdraw(accepted.id).state == "withdrawn"


def test_a_list_of_hashes_that_cannot_be_read_is_told_of(
    client: vocboard.Client, archive: Path, tmp_path: Path
) -> None:
    (tmp_path / "utf-16.txt").write_bytes("hashes".encode("utf-16"))
    for name in ("nowhere.txt", "utf-16.txt"):
        with pytest.raises(MisuseError, match=rf"cannot read \S+{name}"):
            client.submit("voc", archive, method="m", flickr_images="yes", flickr_image_hashes=tmp_path / name)


def test_a_phase_is_chosen_and_its_result_published_by_itself(client: vocboard.Client, archive: Path) -> None:
    phases = {phase.key: phase.state for phase in client.challenge("voc").phases}
    assert phases == {"main": "open", "extra": "open", "closed": "closed"}
    accepted = client.submit("voc", archive, method="Published by itself", phase="extra", publish=True)
    assert client.wait(accepted.id, timeout=120).published_at is not None
    assert "Published by itself" in [row.method for row in client.leaderboard("voc", "comp3", phase="extra").rows]
    assert "Published by itself" not in [row.method for row in client.leaderboard("voc", "comp3", phase="main").rows]
    with pytest.raises(RefusedError, match="no such phase"):
        client.submit("voc", archive, method="Nowhere", phase="nowhere")


def test_downloads_what_checking_offline_needs(client: vocboard.Client, archive: Path, tmp_path: Path) -> None:
    files = client.download("voc", tmp_path / "voc")
    assert files.edition == tmp_path / "voc" / "VOC2012.toml"
    checked = vocboard.validate(archive, files.edition, files.image_sets)
    assert checked.is_valid
    assert checked.items_checked
    client.download("voc", tmp_path / "voc")
    assert len(list((tmp_path / "voc").iterdir())) == 2
    with pytest.raises(vocboard.ClientError):
        client.download("nothing", tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_waiting_ends_in_time(client: vocboard.Client, archive: Path) -> None:
    accepted = client.submit("voc", archive, method="Impatient")
    with pytest.raises(WaitTimeoutError, match="was not finished within 0 seconds; its evaluation continues"):
        client.wait(accepted.id, timeout=0)


def test_refusals_say_why(client: vocboard.Client, tmp_path: Path) -> None:
    wrong = tmp_path / "results.zip"
    wrong.write_bytes(b"no archive")
    with pytest.raises(InvalidArchiveError) as caught:
        client.submit("voc", wrong, method="Wrong")
    assert caught.value.problems[0].code == "not_an_archive"
    with pytest.raises(vocboard.ClientError):
        client.challenge("nothing")
    with pytest.raises(MisuseError, match="a name is missing"):
        client.publish("..")


def test_a_visitor_reads_what_is_public(board: Board) -> None:
    with vocboard.Client(board.url) as visitor:
        assert visitor.leaderboard("voc", "comp3").competition == "comp3"
        with pytest.raises(RefusedError):
            visitor.whoami()


def test_without_arguments_it_is_the_server_last_logged_in_to(board: Board, participant: str) -> None:
    with vocboard.Client() as own:
        assert own.server == board.url
        assert own.whoami().scopes
        assert participant not in repr(own)


def test_the_example_of_the_documentation_runs(
    board: Board, participant: str, archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (archive.parent / "results.tar.gz").write_bytes(archive.read_bytes())
    monkeypatch.chdir(archive.parent)
    examples = [block for block in blocks(PYTHON_PAGE) if needs_server(block)]
    assert examples
    run(examples, PYTHON_PAGE.name)
    assert "My method 0.6087" in capsys.readouterr().out
