"""Label maps: what is wrong with a PNG is told before it can do harm."""

import io
import re
import struct
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from PIL import Image

import vocboard
from tests.evaluator.uploads import IMAGES, SIZE, codes, directory, image_sets, label_map
from vocboard.evaluator.editions import Competition, load
from vocboard.evaluator.problems import Kind
from vocboard.evaluator.reading.results import ReadResults, read_results
from vocboard.evaluator.tasks.segmentation.ground_truth import decode_label_map
from vocboard.evaluator.tasks.segmentation.png import PngError, read_indexed, voc_colours
from vocboard.evaluator.tasks.segmentation.problems import PNG_DEPTH, PNG_RGB

DIRECTORY = "results/VOC2012/Segmentation/comp5_test_cls"


def read(tmp_path: Path, maps: dict[str, bytes], **options: Any) -> ReadResults:
    upload = directory(tmp_path / "upload", {f"{DIRECTORY}/{name}.png": data for name, data in maps.items()})
    return read_results(upload, load("VOC2012"), image_sets(), **options)


def problems_of(tmp_path: Path, data: bytes) -> list[tuple[str, str | None, int | None]]:
    maps = {image: label_map() for image in IMAGES} | {IMAGES[1]: data}
    return codes(read(tmp_path, maps).problems)


def about(code: str) -> list[tuple[str, str | None, int | None]]:
    return [(code, f"{DIRECTORY}/{IMAGES[1]}.png", None)]


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def after_header(png: bytes, *chunks: bytes) -> bytes:
    """Put chunks between the header and what follows it."""
    return png[:33] + b"".join(chunks) + png[33:]


def with_header(png: bytes, width: int, height: int, bits: int = 8, colour: int = 3) -> bytes:
    return png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)) + png[33:]


def test_each_valid_map_goes_to_the_sink_once(tmp_path: Path) -> None:
    seen: list[tuple[str, int, NDArray[np.uint8]]] = []

    def sink(competition: Competition, image: int, labels: NDArray[np.uint8]) -> Callable[[], None]:
        return lambda: seen.append((competition.key, image, labels))

    read_maps = read(tmp_path, {image: label_map(label=20) for image in IMAGES}, segmentation_sink=sink)
    assert read_maps.problems == ()
    # Several threads read; what the sink returns is called in the order of the files.
    assert [(key, image) for key, image, _ in seen] == [("comp5", 0), ("comp5", 1), ("comp5", 2)]
    assert all(
        labels.shape == SIZE[::-1] and labels.dtype == np.uint8 and (labels == 20).all() for _, _, labels in seen
    )


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (label_map((6, 8)), "png_wrong_size"),
        (label_map(label=21), "index_out_of_range"),
        (label_map(label=255), "void_label"),
        (label_map(label=21, mode="L"), "index_out_of_range"),
        (label_map(label=255, mode="L"), "void_label"),
        (label_map(mode="RGB"), "png_rgb"),
        (label_map(mode="LA"), "png_rgb"),
        (label_map(mode="1"), "png_depth"),
        (with_header(label_map(mode="L"), *SIZE, bits=16, colour=0), "png_depth"),
        (with_header(label_map(), *SIZE, bits=4), "png_depth"),
        (with_header(label_map(), 60_000, 60_000), "png_wrong_size"),
        (label_map()[:-20], "png_unreadable"),
        (label_map()[:40], "png_unreadable"),
        (label_map()[:8], "png_unreadable"),
        (label_map().replace(b"PLTE", b"pLTE"), "png_unreadable"),
        (label_map().replace(b"IDAT", b"iDAT"), "png_unreadable"),
        (after_header(label_map(), label_map()[8:33]), "png_unreadable"),
        (b"\xff\xd8\xff\xe0 JFIF", "not_a_png"),
        (b"", "not_a_png"),
    ],
)
def test_one_wrong_map_is_one_problem(tmp_path: Path, data: bytes, code: str) -> None:
    assert problems_of(tmp_path, data) == about(code)


def filtered(labels: NDArray[np.uint8], filters: Sequence[int]) -> bytes:
    """Return the rows of an image, each with its filter (0 to 4). Source: PNG specification, section 9."""
    height, width = labels.shape
    padded = np.zeros((height + 1, width + 1), dtype=np.int64)
    padded[1:, 1:] = labels
    rows = []
    for row, kind in enumerate(filters, start=1):
        own, left, above, corner = padded[row, 1:], padded[row, :-1], padded[row - 1, 1:], padded[row - 1, :-1]
        estimate = left + above - corner
        distances = np.abs(np.stack([estimate - left, estimate - above, estimate - corner]))
        nearest = np.choose(distances.argmin(axis=0), [left, above, corner])
        expected = (0, left, above, (left + above) // 2, nearest)[kind]
        rows.append(bytes([kind]) + ((own - expected) % 256).astype(np.uint8).tobytes())
    return b"".join(rows)


def interlaced(labels: NDArray[np.uint8], kind: int) -> bytes:
    """Return the rows of the seven passes over an image. Source: PNG specification, section 8."""
    starts = [(0, 0), (0, 4), (4, 0), (0, 2), (2, 0), (0, 1), (1, 0)]
    steps = [(8, 8), (8, 8), (8, 4), (4, 4), (4, 2), (2, 2), (2, 1)]
    passes = [labels[top::down, left::right] for (top, left), (down, right) in zip(starts, steps, strict=True)]
    return b"".join(filtered(one, [kind] * len(one)) for one in passes if one.size)


def packed(
    data: bytes, width: int, height: int, *, cuts: Sequence[int] = (), is_interlaced: bool = False, colours: int = 256
) -> bytes:
    """Return a PNG with these rows, compressed in chunks that are cut at these places."""
    compressed = zlib.compress(data)
    cuts = [0, *cuts, len(compressed)]
    pieces = [chunk(b"IDAT", compressed[start:end]) for start, end in pairwise(cuts)]
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, is_interlaced))
    end = chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"PLTE", voc_colours(colours)) + b"".join(pieces) + end


def pillow(png: bytes) -> NDArray[np.uint8] | None:
    try:
        with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
            return np.asarray(image)
    except (OSError, SyntaxError, ValueError):
        return None


some_labels = arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9)))


@given(
    labels=some_labels,
    filters=st.lists(st.integers(0, 4), min_size=9, max_size=9) | st.just([0] * 9),
    cuts=st.sets(st.integers(0, 8)),
)
def test_labels_are_read_whatever_the_filters_of_their_rows(
    labels: NDArray[np.uint8], filters: list[int], cuts: set[int]
) -> None:
    height, width = labels.shape
    png = packed(filtered(labels, filters[:height]), width, height, cuts=sorted(cuts))
    assert np.array_equal(read_indexed(png, None).labels, labels)
    assert np.array_equal(pillow(png), labels)  # what this test encodes is right


@given(labels=some_labels, kind=st.integers(0, 4))
def test_interlaced_labels_are_read(labels: NDArray[np.uint8], kind: int) -> None:
    height, width = labels.shape
    png = packed(interlaced(labels, kind), width, height, is_interlaced=True)
    assert np.array_equal(read_indexed(png, None).labels, labels)
    assert np.array_equal(pillow(png), labels)


TWELVE = np.arange(1, 13, dtype=np.uint8).reshape(3, 4)
ROWS = {"unfiltered": filtered(TWELVE, [0, 0, 0]), "filtered": filtered(TWELVE, [0, 4, 1])}
ROWS["interlaced"] = interlaced(TWELVE, 1)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("last", [4, 10])  # bytes in the last chunk; a checksum has four
def test_no_changed_byte_of_a_map_goes_unnoticed(rows: str, last: int) -> None:
    cut = len(zlib.compress(ROWS[rows])) - last
    png = packed(ROWS[rows], 4, 3, cuts=[cut], is_interlaced=rows == "interlaced")
    for place in range(len(png)):
        for change in (0x01, 0x20, 0x80):
            with pytest.raises(PngError):
                read_indexed(png[:place] + bytes([png[place] ^ change]) + png[place + 1 :], None)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("colours", [0, 257])
def test_a_palette_has_1_to_256_colours(rows: str, colours: int) -> None:
    png = packed(ROWS[rows], 4, 3, is_interlaced=rows == "interlaced", colours=colours)
    with pytest.raises(PngError) as caught:
        read_indexed(png, None)
    assert caught.value.found["reason"] == "its palette is missing or not valid"


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("missing", [1, 5, 9])  # Pillow fills some of them with zeros
def test_a_map_with_too_few_pixels_is_not_filled_with_background(rows: str, missing: int) -> None:
    png = packed(ROWS[rows][:-missing], 4, 3, is_interlaced=rows == "interlaced")
    with pytest.raises(PngError) as caught:
        read_indexed(png, None)
    assert caught.value.found["reason"] == "its data end before the last row"
    assert decode_label_map(png, 20) == "cannot be read as a PNG: its data end before the last row"


def with_methods(*methods: int) -> bytes:
    png = packed(ROWS["unfiltered"], 4, 3)
    return png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 3, 8, 3, *methods)) + png[33:]


def with_more_data(*contents: bytes, rows: str = "unfiltered") -> bytes:
    """A map with more data chunks after those that it needs."""
    png = packed(ROWS[rows], 4, 3, is_interlaced=rows == "interlaced")
    return png[:-12] + b"".join(chunk(b"IDAT", content) for content in contents) + png[-12:]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("contents", [[b""] * 2_000, [b"", b"anything"], [zlib.compress(b"\0" * 20_000_000)]])
def test_data_after_the_last_row_are_not_read(rows: str, contents: list[bytes]) -> None:
    for png in (with_more_data(*contents, rows=rows), with_more_data(rows=rows) + b"".join(contents)):
        assert np.array_equal(read_indexed(png, None).labels, TWELVE)


@pytest.mark.parametrize("rows", ROWS)
def test_the_palette_of_a_greyscale_map_is_not_read(rows: str) -> None:
    png = packed(ROWS[rows], 4, 3, is_interlaced=rows == "interlaced")
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 3, 8, 0, 0, 0, rows == "interlaced"))
    palette = png.index(b"PLTE")
    for broken in (png[8 + 25 : palette] + b"PLTE" + b"\xff" + png[palette + 5 :], png[8 + 25 :]):
        found = read_indexed(png[:8] + header + broken, None)
        assert found.palette is None
        assert np.array_equal(found.labels, TWELVE)


def test_the_header_is_checked_before_the_data() -> None:
    damaged = bytearray(label_map(mode="RGB"))
    damaged[damaged.index(b"IDAT") + 4] ^= 1
    with pytest.raises(PngError) as caught:
        read_indexed(bytes(damaged), None)
    assert caught.value.kind is PNG_RGB


@pytest.mark.parametrize(
    ("png", "reason"),
    [
        (with_methods(1, 0, 0), "its header names a method that does not exist"),
        (with_methods(0, 1, 0), "its header names a method that does not exist"),
        (with_methods(0, 0, 2), "its header names a method that does not exist"),
        (after_header(label_map(), chunk(b"PLTE", bytes(6))), "its chunks are incomplete or in the wrong order"),
        (label_map()[:-12] + chunk(b"PLTE", bytes(6)) + label_map()[-12:], "its chunks are incomplete or in the wrong"),
        (after_header(label_map(), *[chunk(b"teXt", b"")] * 100_000), "it has more than 100,000 chunks"),
        (with_more_data(*[b""] * 100_000), "it has more than 100,000 chunks"),
    ],
    ids=["compression", "filtering", "interlacing", "two palettes", "palette after the data", "chunks", "data chunks"],
)
def test_what_no_png_has_is_refused(png: bytes, reason: str) -> None:
    with pytest.raises(PngError) as caught:
        read_indexed(png, None)
    assert caught.value.found["reason"].startswith(reason)


def test_text_colour_profile_and_animation_are_never_unpacked(tmp_path: Path) -> None:
    bomb = zlib.compress(b"\0" * 50_000_000)
    ancillary = [chunk(b"zTXt", b"k\0\0" + bomb), chunk(b"iCCP", b"p\0\0" + bomb), chunk(b"acTL", b"\0" * 8)]
    assert problems_of(tmp_path, after_header(label_map(), *ancillary)) == []


def test_pixels_beyond_the_size_are_never_unpacked(tmp_path: Path) -> None:
    png = label_map()
    place = png.index(b"IDAT") - 4
    bomb = chunk(b"IDAT", zlib.compress(b"\0" * 50_000_000))
    assert problems_of(tmp_path, png[:place] + bomb + chunk(b"IEND", b"")) == []


def test_sizes_are_bounded_where_the_images_are_unknown(tmp_path: Path) -> None:
    upload = directory(tmp_path, {f"{DIRECTORY}/a.png": with_header(label_map(), 60_000, 60_000)})
    assert codes(read_results(upload, load("VOC2012"), None).problems) == [
        ("png_too_large", f"{DIRECTORY}/a.png", None)
    ]


def test_every_image_needs_a_map(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, {IMAGES[1]: label_map()}).problems
    assert (problem.code, problem.file) == ("missing_maps", DIRECTORY)
    assert "2 images of 3: 000001, 000003" in problem.message


def test_an_unknown_image_has_no_map(tmp_path: Path) -> None:
    maps = {image: label_map() for image in (*IMAGES, "000004")}
    assert codes(read(tmp_path, maps).problems) == [("unknown_image", f"{DIRECTORY}/000004.png", None)]


def test_another_palette_is_one_warning_for_all_maps(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, dict.fromkeys(IMAGES, _recoloured(label_map()))).problems
    assert (problem.code, problem.severity, problem.file) == (
        "unusual_colour_map",
        "warning",
        f"{DIRECTORY}/{IMAGES[0]}.png",
    )
    assert "3 label maps" in problem.message


def test_grey_values_are_read_as_the_indices_with_one_warning_for_all_maps(tmp_path: Path) -> None:
    seen: list[NDArray[np.uint8]] = []
    maps = dict.fromkeys(IMAGES, label_map(label=20, mode="L"))
    found = read(tmp_path, maps, segmentation_sink=lambda _, __, labels: seen.append(labels))
    assert [(problem.code, problem.severity) for problem in found.problems] == [("png_greyscale", "warning")]
    assert "3 label maps (this one first) have 8-bit grey values" in found.problems[0].message
    assert found.is_valid
    assert len(seen) == 3
    assert all(labels.shape == SIZE[::-1] and (labels == 20).all() for labels in seen)


def as_grey(labels: Sequence[int]) -> bytes:
    """A map of these labels in the VOC colours, as Pillow converts it to greyscale."""
    image = Image.fromarray(np.resize(np.array(labels, dtype=np.uint8), SIZE[::-1]), mode="P")
    image.putpalette(voc_colours(256))
    file = io.BytesIO()
    image.convert("L").save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("labels", [range(21), [0, 1, 2, 255], [9, 14, 20]], ids=str)
def test_colours_that_were_converted_to_greyscale_are_one_error_that_says_so(
    tmp_path: Path, labels: Sequence[int]
) -> None:
    maps = {IMAGES[0]: as_grey([0]), IMAGES[1]: as_grey(labels), IMAGES[2]: as_grey([0, 15])}
    (problem,) = read(tmp_path, maps).problems
    assert (problem.code, problem.file) == ("png_converted_to_greyscale", f"{DIRECTORY}/{IMAGES[0]}.png")
    assert "3 label maps (this one first)" in problem.message
    assert "were converted to greyscale. Save the class indices" in problem.message


@pytest.mark.parametrize(
    "values",
    [
        [0, 38],  # may as well be the number of a class in another data set
        [0, 38, 75],
        [*range(91)],  # COCO's numbers
        [0, 38, 75, 113, 200],
    ],
    ids=str,
)
def test_other_grey_values_are_not_taken_for_colours(tmp_path: Path, values: list[int]) -> None:
    image = Image.fromarray(np.resize(np.array(values, dtype=np.uint8), SIZE[::-1]))
    file = io.BytesIO()
    image.save(file, "PNG")
    assert problems_of(tmp_path, file.getvalue()) == about("index_out_of_range")


def test_problems_of_all_maps_together_are_capped(tmp_path: Path) -> None:
    images = tuple(f"{number:06}" for number in range(50))
    maps = {f"{DIRECTORY}/{image}.png": b"" for image in images}
    upload = directory(tmp_path, maps)
    problems = read_results(upload, load("VOC2012"), image_sets(images=images)).problems
    assert [problem.code for problem in problems] == ["not_a_png"] * 20 + ["more_problems"]


def test_warnings_beyond_the_cap_do_not_count_as_errors(tmp_path: Path) -> None:
    images = tuple(f"{number:06}" for number in range(21))
    maps = dict.fromkeys(images[:20], b"") | {images[20]: _recoloured(label_map())}
    upload = directory(tmp_path, {f"{DIRECTORY}/{name}.png": data for name, data in maps.items()})
    last = read_results(upload, load("VOC2012"), image_sets(images=images)).problems[-1]
    assert (last.code, last.severity) == ("more_warnings", "warning")
    assert "1 more warning is not listed: 1 unusual_colour_map" in last.message


def test_messages_say_how_to_fix_it(tmp_path: Path) -> None:
    maps = {IMAGES[0]: label_map((6, 8)), IMAGES[1]: label_map(label=255), IMAGES[2]: label_map(mode="1")}
    size, void, depth = (problem.message for problem in read(tmp_path, maps).problems)
    assert "6 x 8 pixels; the image is 8 x 6" in size
    assert "48 pixels have the value 255 (void), which only ground truth may use" in void
    assert "expected 0 (background) to 20 (tvmonitor)" in void
    assert "greyscale, 1 bit per pixel, expected 8 bits per pixel" in depth


def _recoloured(png: bytes) -> bytes:
    """Make every colour of the palette black."""
    place = png.index(b"PLTE")
    length = struct.unpack(">I", png[place - 4 : place])[0]
    return png[: place - 4] + chunk(b"PLTE", bytes(length)) + png[place + 8 + length :]


@pytest.mark.parametrize("kind", [PNG_RGB, PNG_DEPTH], ids=lambda kind: kind.code)
def test_the_code_that_is_recommended_saves_a_label_map_with_the_palette_of_voc(kind: Kind) -> None:
    (code,) = re.findall(r"With Pillow: `([^`]+)`", kind.remedy)
    names: dict[str, Any] = {"Image": Image, "np": np, "vocboard": vocboard, "labels": np.full((4, 6), 7)}
    exec(code, names)
    output = io.BytesIO()
    names["image"].save(output, "PNG")
    with Image.open(output) as saved:
        assert saved.mode == "P"
        assert np.all(np.asarray(saved) == 7)
        assert bytes(saved.getpalette() or ()) == voc_colours(256)
