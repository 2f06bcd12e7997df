"""Directories that commands write, and replace when they are run again."""

from pathlib import Path

import pytest

from vocboard.evaluator.whole_output import MANIFEST, OutputExistsError, whole_directory, whole_file


def written(path: Path, content: str = "a", kind: str = "tree") -> None:
    with whole_directory(path, kind) as directory:
        (directory / "Annotations").mkdir()
        (directory / "Annotations" / "1.xml").write_text(content)


def state(path: Path) -> dict[str, str]:
    return {str(each.relative_to(path)): each.read_text() if each.is_file() else "" for each in path.rglob("*")}


def test_output_of_the_same_command_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        written(tmp_path / name)
        written(tmp_path / name, "b")
        assert (tmp_path / name / "Annotations" / "1.xml").read_text() == "b"
        assert sorted(state(tmp_path / name)) == [MANIFEST, "Annotations", "Annotations/1.xml"]


@pytest.mark.parametrize("place", ["notes.txt", "Annotations/1.jpg", "JPEGImages/", "Annotations/1.xml", "later"])
def test_files_of_the_user_are_listed_and_nothing_is_touched(place: str, tmp_path: Path) -> None:
    output = tmp_path / "tree"
    written(output)
    if place.endswith("/"):
        (output / place).mkdir()
    elif place != "later":
        (output / place).write_text("mine")
    before = state(output)
    with pytest.raises(OutputExistsError, match=place) as caught, whole_directory(output, "tree"):
        (output / "later").write_text("while it ran")
    assert ("(changed)" in str(caught.value)) == (place == "Annotations/1.xml")
    assert state(output) == before | ({"later": "while it ran"} if place == "later" else {})
    assert list(tmp_path.iterdir()) == [output]


def test_output_of_other_commands_and_versions_is_not_replaced(tmp_path: Path) -> None:
    written(tmp_path / "view", kind="view")
    written(tmp_path / "old")
    (tmp_path / "old" / MANIFEST).unlink()
    for name in ("view", "old"):
        with pytest.raises(OutputExistsError, match="not written by this command"):
            written(tmp_path / name)


def test_an_error_names_the_output_where_a_directory_is_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as caught, whole_file(tmp_path):
        pass
    assert caught.value.filename == str(tmp_path)
