"""Text files: classification, detection and action."""

from functools import partial

from tests.hostile.cases.case import Cases, accepted, rejected
from tests.hostile.cases.packing import DETECTIONS, GOOD, packed

_CLASSIFICATION = "results/VOC2012/Main/comp1_cls_test_car.txt"
_ACTION = "results/VOC2012/Action/comp9_action_test_jumping.txt"
_IMAGES = ("000001", "000002", "000003", "000004")

_ALL = "".join(f"{image} 0.5\n" for image in _IMAGES)
_PEOPLE = "000001 1 0.5\n000002 1 0.5\n000003 1 0.5\n000003 2 0.5\n"


def _detections(text: str | bytes) -> bytes:
    return packed({DETECTIONS: text.encode() if isinstance(text, str) else text})


def _confidences(text: str | bytes) -> bytes:
    return packed({_CLASSIFICATION: text.encode() if isinstance(text, str) else text})


def _action(text: str) -> bytes:
    return packed({_ACTION: text.encode()})


_WRONG_NUMBERS = {
    "nan": ("NaN", "not_finite"),
    "nan-negative": ("-nan", "not_finite"),
    "infinity": ("Inf", "not_finite"),
    "infinity-by-size": ("1e999", "not_finite"),
    "too-large": ("1e31", "number_out_of_range"),
    "hexadecimal": ("0x10", "not_a_number"),
    "hexadecimal-float": ("0x1.8p3", "not_a_number"),
    "underscore": ("1_000", "not_a_number"),
    "digits-of-another-script": ("\u0663", "not_a_number"),
    "full-width-digits": ("\uff11", "not_a_number"),
    "comma": ("0,75", "comma_decimal"),
    "percent": ("75%", "not_a_number"),
    "quotes": ('"0.75"', "not_a_number"),
    "fortran": ("1d-3", "not_a_number"),
    "words": ("high", "not_a_number"),
    "nul": ("0.5\0", "not_a_number"),
    "no-break-space": ("0.5\u2060", "not_a_number"),
    "formula": ("=1+1", "not_a_number"),
    "python": ("__import__('os').system('id')", "not_a_number"),
}

_WRONG_DETECTIONS = {
    "confidence-missing": ("000001 1 1 4 4", "confidence_missing"),
    "box-missing": ("000001 0.9", "box_missing"),
    "side-missing": ("000001 0.9 1 1 4", "wrong_number_of_fields"),
    "class-at-the-end": ("000001 0.9 1 1 4 4 car", "wrong_number_of_fields"),
    "commas": ("000001,0.9,1,1,4,4", "wrong_separator"),
    "semicolons": ("000001;0.9;1;1;4;4", "wrong_separator"),
    "image-only": ("000001", "wrong_number_of_fields"),
    "unknown-image": ("2012_000001 0.9 1 1 4 4", "unknown_image"),
    "image-of-train": ("000005 0.9 1 1 4 4", "unknown_image"),
    "image-without-zeros": ("1 0.9 1 1 4 4", "unknown_image"),
    "image-after-confidence": ("0.9 000001 1 1 4 4", "image_in_another_column"),
    "image-with-extension": ("000001.jpg 0.9 1 1 4 4", "image_with_file_name"),
    "image-with-path": ("JPEGImages/000001.jpg 0.9 1 1 4 4", "image_with_file_name"),
    "image-with-windows-path": ("C:\\VOC2012\\JPEGImages\\000001.jpg 0.9 1 1 4 4", "image_with_file_name"),
    "image-hostile": ("\x1b[31m\u202e{0.__class__}%s<script>alert(1)</script> 0.9 1 1 4 4", "unknown_image"),
    "image-nul": ("\0 0.9 1 1 4 4", "unknown_image"),
    "image-upwards": ("../../etc/passwd 0.9 1 1 4 4", "unknown_image"),
    "coordinate-nan": ("000001 0.9 nan 1 4 4", "not_finite"),
    "coordinate-words": ("000001 0.9 left top right bottom", "not_a_number"),
    "header-line": ("image confidence xmin ymin xmax ymax", "unknown_image"),
    "json": ('{"image_id": 1, "bbox": [1, 1, 4, 4], "score": 0.9}', "wrong_number_of_fields"),
}


def cases() -> Cases:
    """All of them."""
    yield from _numbers_and_lines()
    yield from _encodings()
    yield from _images_and_people()
    yield from _boxes()


def _numbers_and_lines() -> Cases:
    for name, (number, code) in _WRONG_NUMBERS.items():
        text = _ALL.replace("000002 0.5", f"000002 {number}")
        yield rejected(
            f"text-number-{name}.tar.gz", f"the confidence {number!r}", lambda text=text: _confidences(text), code
        )
    for name, (line, code) in _WRONG_DETECTIONS.items():
        codes = ("unknown_image", "not_a_number") if name == "header-line" else (code,)
        yield rejected(
            f"text-line-{name}.tar.gz",
            f"the line {line!r}",
            lambda line=line: _detections(f"{GOOD.decode()}{line}\n"),
            *codes,
        )
    many = "".join(f"000001 x{number} 1 1 4 4\n" for number in range(50))
    yield rejected(
        "text-fifty-wrong-lines.tar.gz",
        "fifty lines that are wrong",
        lambda: _detections(many),
        "not_a_number",
        "more_problems",
    )
    yield accepted(
        "text-numbers.tar.gz",
        "numbers in every form that is one",
        lambda: _confidences("000001 +1.\n000002 -.5e-3\n000003 1E+05\n000004 0000.1\n"),
    )
    yield accepted(
        "text-numbers-tiny.tar.gz",
        "numbers too small for a double",
        lambda: _confidences(_ALL.replace("0.5", "1e-999", 1)),
    )
    yield accepted(
        "text-many-digits.tar.gz",
        "a confidence of 300 digits",
        lambda: _confidences(_ALL.replace("0.5", "0." + "123456789" * 33, 1)),
    )


def _encodings() -> Cases:
    yield rejected(
        "text-nul-bytes.tar.gz", "a file of NUL bytes", lambda: _detections(b"\0" * 1_000), "wrong_number_of_fields"
    )
    yield rejected(
        "text-latin-1.tar.gz", "a byte that is not UTF-8", lambda: _confidences(_ALL.encode() + b"\xe9 1\n"), "not_utf8"
    )
    yield rejected(
        "text-surrogates.tar.gz",
        "half of a surrogate pair, as no UTF-8 has it",
        lambda: _confidences(_ALL.encode() + b"\xed\xa0\x80 1\n"),
        "not_utf8",
    )
    yield rejected(
        "text-overlong.tar.gz", "an overlong NUL", lambda: _confidences(_ALL.encode() + b"\xc0\x80 1\n"), "not_utf8"
    )
    yield rejected(
        "text-utf-16.tar.gz", "UTF-16, as PowerShell writes", lambda: _confidences(_ALL.encode("utf-16")), "utf16"
    )
    yield rejected(
        "text-matlab.tar.gz",
        "a MATLAB file",
        lambda: _confidences(b"MATLAB 5.0 MAT-file\0\1IM" + bytes(range(256))),
        "not_utf8",
    )
    yield rejected(
        "text-numpy.tar.gz", "a NumPy file", lambda: _confidences(b"\x93NUMPY\1\0v\0{'descr': '<f8'}"), "not_utf8"
    )
    yield accepted(
        "text-byte-order-mark.tar.gz",
        "a byte order mark",
        lambda: _confidences(b"\xef\xbb\xbf" + _ALL.encode()),
        "byte_order_mark",
    )
    yield accepted(
        "text-windows-lines.tar.gz",
        "line ends of Windows",
        lambda: _confidences(_ALL.replace("\n", "\r\n")),
        "line_ends_of_windows",
    )
    yield accepted(
        "text-old-mac-lines.tar.gz",
        "line ends of old Macs",
        lambda: _confidences(_ALL.replace("\n", "\r")),
        "line_ends_of_old_macs",
    )
    yield accepted("text-tabs.tar.gz", "tabs between the fields", lambda: _confidences(_ALL.replace(" ", "\t")), "tabs")
    yield accepted(
        "text-blank-lines.tar.gz",
        "blank lines and spaces at both ends",
        lambda: _confidences("\n\n" + _ALL.replace("\n", "  \n\n   ")),
    )
    yield accepted("text-no-line-end.tar.gz", "no line end at the end", lambda: _confidences(_ALL.rstrip("\n")))
    yield accepted("text-empty.tar.gz", "a file of no bytes", lambda: _confidences(""), "empty_file")
    yield accepted(
        "text-form-feeds.tar.gz",
        "form feeds and no-break spaces between fields",
        lambda: _confidences(_ALL.replace(" ", "\f\u00a0")),
    )
    yield rejected(
        "text-line-separators.tar.gz",
        "lines divided by Unicode's line separator",
        lambda: _confidences(_ALL.replace("\n", "\u2028")),
        "wrong_number_of_fields",
    )


def _images_and_people() -> Cases:
    yield rejected(
        "text-image-twice.tar.gz",
        "two confidences for one image",
        lambda: _confidences(_ALL + "000002 0.7\n"),
        "repeated_image",
    )
    yield rejected(
        "text-detections-in-classification.tar.gz",
        "detections in a classification file",
        lambda: _confidences(GOOD),
        "wrong_number_of_fields",
    )
    yield rejected(
        "text-confidences-missing.tar.gz",
        "images without confidences",
        lambda: _confidences("\n".join(_IMAGES)),
        "confidence_missing",
    )
    yield accepted(
        "text-images-left-out.tar.gz",
        "an image without a line",
        lambda: _confidences("000001 1\n000003 1\n000004 1\n"),
        "images_without_confidence",
    )
    yield accepted("action.tar.gz", "an action file", lambda: _action(_PEOPLE))
    yield accepted(
        "action-people-left-out.tar.gz",
        "people without a line",
        lambda: _action("000003 2 1\n"),
        "persons_without_confidence",
    )
    wrong = {
        "object-zero": ("000001 0 0.5", "object_index_zero"),
        "object-missing": ("000001 0.5", "object_index_missing"),
        "confidence-missing": ("000001 1", "confidence_missing"),
        "object-float": ("000001 1.0 0.5", "bad_object_index"),
        "object-negative": ("000001 -1 0.5", "bad_object_index"),
        "object-huge": ("000001 99999999999999999999 0.5", "bad_object_index"),
        "object-of-another-script": ("000001 \u0661 0.5", "bad_object_index"),
        "person-unknown": ("000001 7 0.5", "unknown_person"),
        "person-twice": ("000002 1 0.5", "repeated_person"),
        "image-of-detection": ("000004 1 0.5", "image_of_another_task"),
    }
    for name, (line, code) in wrong.items():
        text = _PEOPLE.replace("000001 1 0.5", line)
        codes = ("repeated_person",) if name == "person-twice" else (code,)
        yield rejected(f"action-{name}.tar.gz", f"the line {line!r}", lambda text=text: _action(text), *codes)


def _boxes() -> Cases:
    conventions = {
        "as-fractions": ("0.9 0.1 0.2 0.5 0.9", "boxes_as_fractions", "box_outside_image"),
        "with-sizes": ("0.9 5 4 3 2", "boxes_with_width_and_height", "box_upside_down"),
        "from-centre": ("0.9 6 4 5 3", "boxes_from_centre", "box_upside_down"),
        "before-confidence": ("3 2 6 5 0.9", "confidence_after_box", "box_upside_down"),
    }
    for name, (line, *codes) in conventions.items():
        data = "".join(f"00000{image} {line}\n" for image in (1, 1, 2, 3, 4))
        yield accepted(f"boxes-{name}.tar.gz", f"boxes {name}", partial(_detections, data), *codes)
    yield accepted(
        "boxes-upside-down.tar.gz",
        "right left of left",
        lambda: _detections("000001 0.9 4 1 1 4\n000001 0.9 1 1 8 6\n"),
        "box_upside_down",
    )
    yield accepted(
        "boxes-outside.tar.gz",
        "outside of the image of 8 x 6",
        lambda: _detections("000001 0.9 20 20 30 30\n"),
        "box_outside_image",
    )
    yield accepted(
        "boxes-from-zero.tar.gz",
        "counting from 0",
        lambda: _detections("000001 0.9 0 0 7 5\n000002 0.8 1 0 4 3\n"),
        "zero_based_boxes",
    )
    yield accepted(
        "boxes-reaching-over.tar.gz",
        "reaching over the edges, with fractions",
        lambda: _detections("000001 0.9 -3.5 -2 12.25 9\n"),
    )
    yield accepted("boxes-of-one-pixel.tar.gz", "of one pixel", lambda: _detections("000001 0.9 8 6 8 6\n"))
    many = "".join(f"00000{number % 4 + 1} 0.9 4 1 1 4\n" for number in range(100))
    yield accepted(
        "boxes-all-upside-down.tar.gz",
        "a hundred that are upside down, and fit as width and height: two warnings",
        lambda: _detections(many),
        "boxes_with_width_and_height",
        "box_upside_down",
    )
