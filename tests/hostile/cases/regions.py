"""Regions of instances."""

from tests.hostile.cases.case import Case, Cases, accepted, rejected
from tests.hostile.cases.packing import entry, packed, tar, xz
from tests.hostile.folder import INSTANCES
from vocboard.evaluator.tasks.instance_segmentation.format import MAX_CHARACTERS

_FILE = "results/Instances/comp1_inst_test_car.txt"
_ALL = "0`1"  # no pixel outside, 48 inside: the whole of 8 x 6
_NONE = "`1"
_EVERY_SECOND = "111" + "0" * 45
_SMALLER = "0n0"  # 30 pixels


def _lines(*lines: str) -> bytes:
    return packed({_FILE: "".join(f"{line}\n" for line in lines).encode()})


def _taken(name: str, about: str, *lines: str, codes: tuple[str, ...] = ()) -> Case:
    return accepted(f"regions-{name}.tar.gz", about, lambda: _lines(*lines), *codes, edition=INSTANCES)


def _refused(name: str, about: str, *lines: str, codes: tuple[str, ...]) -> Case:
    return rejected(f"regions-{name}.tar.gz", about, lambda: _lines(*lines), *codes, edition=INSTANCES)


def cases() -> Cases:
    """All of them."""
    good = f"000001 0.9 {_ALL}"
    yield _taken("plain", "valid regions", good, f"000002 0.5 {_EVERY_SECOND}", f"000001 -1e3 {_ALL}")
    yield _taken("empty", "regions without a pixel", good, f"000002 0.5 {_NONE}", codes=("empty_regions",))
    yield _taken("none", "no line in it", codes=("empty_file",))
    yield from _encodings(good)
    yield from _fields(good)
    yield from _bombs()


def _encodings(good: str) -> Cases:
    wrong = {
        "uncompressed": ("run lengths as a list, without spaces", "[0,48]"),
        "of-json": ("the whole object of pycocotools, without spaces", '{"size":[6,8],"counts":"0`1"}'),
        "of-bytes": ("Python's notation of bytes", "b'0`1'"),
        "polygon": ("the corners of a polygon", "1,1,8,1,8,6,1,6"),
        "base64": ("letters that no RLE has", "eJzT0yMAAGTvBe8="),
        "cut": ("an RLE that ends within a number", "0`"),
        "negative": ("runs of negative length", "31O"),
        "number-too-large": ("a number of twenty digits", "o" * 20 + "0"),
        "null": ("a zero byte", "0\0001"),
        "another-script": ("letters of another script", "\N{FULLWIDTH DIGIT ZERO}`1"),
    }
    for name, (about, text) in wrong.items():
        yield _refused(name, about, good, f"000002 0.5 {text}", codes=("not_rle",))
    yield _refused("too-few-pixels", "30 pixels", f"000001 0.9 {_SMALLER}", codes=("rle_wrong_size",))
    yield _refused("too-many-pixels", "a thousand million pixels", "000001 0.9 0oooooo0", codes=("rle_wrong_size",))
    yield _refused(
        "too-long", "too many characters", f"000001 0.9 {'1' * (MAX_CHARACTERS + 1)}", codes=("rle_too_long",)
    )
    yield _refused(
        "all-wrong",
        "every kind at once",
        "000009 nan 0`",
        f"000001 0.9 {_SMALLER}",
        "000001.jpg inf 0`1",
        "000001 0,5 []",
        codes=("unknown_image", "not_finite", "not_rle", "rle_wrong_size", "image_with_file_name", "not_finite",
               "comma_decimal", "not_rle"),
    )  # fmt: skip


def _fields(good: str) -> Cases:
    yield _refused("nan", "a confidence that is not a number", good, f"000002 NaN {_ALL}", codes=("not_finite",))
    yield _refused("infinite", "an infinite confidence", good, f"000002 -inf {_ALL}", codes=("not_finite",))
    yield _refused("confidence-huge", "a confidence of 1e300", f"000001 1e300 {_ALL}", codes=("number_out_of_range",))
    yield _refused("confidence-missing", "no confidence", f"000001 {_ALL}", codes=("wrong_number_of_fields",))
    yield _refused("box", "a box in place of a region", "000001 0.9 1 1 4 4", codes=("wrong_number_of_fields",))
    yield _refused("with-spaces", "run lengths with spaces", "000001 0.9 [0, 48]", codes=("wrong_number_of_fields",))
    yield _refused("image-unknown", "an image of no test set", f"000009 0.9 {_ALL}", codes=("unknown_image",))


def _bombs() -> Cases:
    region, noise = f"000001 0.9 {_ALL}\n".encode(), f"000001 0.9 {'1' * MAX_CHARACTERS}\n".encode()
    yield rejected(
        "bomb-of-regions.tar.xz",
        "a million regions in one image",
        lambda: xz(tar(entry(_FILE, region * 1_000_000))),
        "too_many_detections",
        edition=INSTANCES,
    )
    yield rejected(
        "bomb-of-runs.tar.xz",
        "forty million runs",
        lambda: xz(tar(entry(_FILE, noise * 400))),
        "rle_wrong_size",
        "more_problems",
        edition=INSTANCES,
    )
