"""The example editions of the documentation: VOC2009's rules for other classes give VOC2009's scores."""

import io
import re
import tarfile
from pathlib import Path
from typing import Any

from tests.support.golden import golden
from vocboard.evaluator.editions import Edition, load, read
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth.reader import read_ground_truth

EXAMPLES = Path(__file__).parents[2] / "docs" / "editions" / "examples"
VOC2009 = load("VOC2009")


def renamed(archive: Path, target: Path, new_name: dict[str, str], edition: Edition) -> Path:
    """Rewrite an archive with other names of edition and classes."""
    old = "|".join(new_name)

    def of_class(found: re.Match[str]) -> str:
        return found[0].replace(found[1], new_name[found[1]])

    with tarfile.open(archive) as source, tarfile.open(target, "w") as written:
        for member in source:
            content = source.extractfile(member)
            if content is None:
                continue
            data = content.read()
            if member.name.endswith(".xml"):
                data = re.sub(rf"<name>({old})</name>", of_class, data.decode()).encode()
            name = re.sub(rf"(?:(?<=_)|(?<=/))({old})(?=_|\.txt)", of_class, member.name)
            copied = tarfile.TarInfo(name.replace(VOC2009.name, edition.name))
            copied.size = len(data)
            written.addfile(copied, io.BytesIO(data))
    return target


def test_voc2009_with_other_classes_scores_as_voc2009(tmp_path: Path) -> None:
    case = golden("voc2009-synthetic")
    edition = read(EXAMPLES / "harbour.toml")
    new_name = dict(zip(VOC2009.classes, edition.classes, strict=True))
    assert sum(old != new for old, new in new_name.items()) == 19  # people stay people: they have parts
    expected = evaluate(case.results, VOC2009, read_ground_truth(case.ground_truth, VOC2009)).as_json()
    truth = read_ground_truth(renamed(case.ground_truth, tmp_path / "tree.tar", new_name, edition), edition)
    found = evaluate(renamed(case.results, tmp_path / "results.tar", new_name, edition), edition, truth).as_json()
    assert found["edition"] == "Harbour"
    assert set(found["competitions"]) == set(expected["competitions"])
    assert found["competitions"] == with_names(expected["competitions"], new_name)


def with_names(content: Any, new_name: dict[str, str]) -> Any:
    """The same JSON with other class names as keys and in lists."""
    if isinstance(content, dict):
        return {new_name.get(key, key): with_names(value, new_name) for key, value in content.items()}
    if isinstance(content, list):
        return [with_names(value, new_name) for value in content]
    return new_name.get(content, content) if isinstance(content, str) else content


def test_the_aerial_example_is_an_edition_of_its_own() -> None:
    edition = read(EXAMPLES / "aerial.toml")
    assert len(edition.competitions) == 8
    assert {item.image_set for item in edition.competitions.values()} == {"city", "country"}
    assert edition.limits.detections_per_image == 50_000
