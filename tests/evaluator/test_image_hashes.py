"""Test images are found among training images, even if scaled and recompressed."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vocboard.evaluator.image_hashes import HashListError, ImageHash, hash_image, images_below, overlaps, parse_list


def picture(seed: int) -> Image.Image:
    """A synthetic photograph: a few soft spots of light."""
    noise = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(noise).resize((500, 375), Image.Resampling.BICUBIC)


@pytest.fixture
def test_images(tmp_path: Path) -> Path:
    directory = tmp_path / "test"
    (directory / "more").mkdir(parents=True)
    for seed in range(20):
        picture(seed).save(directory / ("more" if seed % 2 else "") / f"{seed:06}.jpg", quality=95)
    (directory / "notes.txt").write_text("not an image")
    return directory


def hashed(directory: Path) -> list[tuple[Path, ImageHash]]:
    return [(path, hash_image(path)) for path in images_below(directory)]


def test_finds_the_same_file_and_the_same_picture_and_no_other(test_images: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "a.jpg").write_bytes((test_images / "000004.jpg").read_bytes())
    picture(7).resize((320, 240)).save(mine / "b.jpg", quality=60)
    picture(100).save(mine / "c.png")
    for seed in range(101, 140):
        picture(seed).save(mine / f"d{seed}.jpg")
    listed = parse_list("".join(f"{hash_image(path)}\n" for path in images_below(mine)))
    found = [(one.line, one.image.name, one.bits) for one in overlaps(listed, hashed(test_images))]
    assert [(line, name) for line, name, _ in found] == [(1, "000004.jpg"), (2, "000007.jpg")]
    assert found[0][2] is None
    assert found[1][2] is not None


def test_nothing_overlaps_with_nothing(test_images: Path) -> None:
    assert list(overlaps([], hashed(test_images))) == []
    assert list(overlaps([hash_image(test_images / "000000.jpg")], [])) == []


@pytest.mark.parametrize(
    "line", ["photo.jpg", "00 00", f"{'0' * 64}", f"{'0' * 64} {'g' * 16}", f"{'0' * 64}  {'0' * 16}"]
)
def test_what_is_not_a_hash_is_reported_by_its_line(line: str) -> None:
    with pytest.raises(HashListError, match="Line 3 "):
        parse_list(f"# images\n{'0' * 64} {'0' * 16}\n{line}\n")


def test_what_is_not_a_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("text")
    with pytest.raises(OSError, match="cannot identify"):
        hash_image(tmp_path / "a.jpg")
    Image.new("1", (14_000, 14_000)).save(tmp_path / "b.png")
    with pytest.raises(ValueError, match="196000000 pixels"):
        hash_image(tmp_path / "b.png")
    picture(1).save(tmp_path / "c.png")
    content = bytearray((tmp_path / "c.png").read_bytes())
    content[33:37] = (1000).to_bytes(4)  # the length of the first chunk of pixels
    (tmp_path / "c.png").write_bytes(content)
    with pytest.raises(ValueError, match="broken PNG"):
        hash_image(tmp_path / "c.png")
