"""Which files an upload has, and what they are called."""

from tests.hostile.cases.case import Cases, accepted, rejected
from tests.hostile.cases.maps import complete
from tests.hostile.cases.packing import DETECTIONS, GOOD, packed

_MAIN = "results/VOC2012/Main"
_LAYOUT = b"<results></results>"


def cases() -> Cases:
    """All of them."""
    yield accepted(
        "names-without-directories.tar.gz", "a result file alone", lambda: packed({"comp3_det_test_car.txt": GOOD})
    )
    yield accepted("names-below-others.tar.gz", "directories above", lambda: packed({f"my/own/{DETECTIONS}": GOOD}))
    names = {
        "class-plural": ("comp3_det_test_cars.txt", "unknown_class"),
        "class-of-coco": ("comp3_det_test_airplane.txt", "unknown_class"),
        "class-capital": ("comp3_det_test_Car.txt", "unknown_class"),
        "class-unknown": ("comp3_det_test_zebra.txt", "unknown_class"),
        "action-unknown": ("comp9_action_test_dancing.txt", "unknown_class"),
        "set-val": ("comp3_det_val_car.txt", "wrong_image_set"),
        "set-trainval": ("comp1_cls_trainval_car.txt", "wrong_image_set"),
        "of-voc2007": ("comp7_layout_test_person.xml", "file_of_another_edition"),
        "of-voc2005": ("comp1_cls_test1_cars.txt", "file_of_another_edition"),
        "extension": ("comp3_det_test_car.csv", "unknown_file"),
        "upper-case": ("COMP3_DET_TEST_CAR.TXT", "unknown_class"),
        "spaces": ("comp3_det_test_car (1).txt", "unknown_file"),
        "notes": ("README.md", "unknown_file"),
    }
    for name, (file, code) in names.items():
        content = {DETECTIONS: GOOD, f"{_MAIN}/{file}": GOOD}
        yield rejected(f"names-{name}.tar.gz", f"a file called {file}", lambda content=content: packed(content), code)
    yield rejected(
        "names-of-voc2012-in-voc2007.tar.gz",
        "an upload of another year",
        lambda: packed({"comp7_layout_test.xml": _LAYOUT, "comp9_action_test_walking.txt": b""}),
        "file_of_another_edition",
        edition="VOC2007",
    )
    yield rejected(
        "names-foreign.tar.gz",
        "no result file at all",
        lambda: packed({"detections.json": b"[]", "README.md": b""}),
        "no_result_files",
    )
    yield rejected(
        "names-twice.tar.gz",
        "the same class in two directories",
        lambda: packed({DETECTIONS: GOOD, "old/comp3_det_test_car.txt": GOOD}),
        "duplicate_file",
    )
    yield rejected(
        "names-nested-archive.tar.gz",
        "a result file that is compressed itself",
        lambda: packed({f"{DETECTIONS}.gz": b"\x1f\x8b\x08\0", DETECTIONS: GOOD}),
        "nested_archive",
    )
    deep = {name.replace("comp5_test_cls/", "comp5_test_cls/maps/"): data for name, data in complete().items()}
    yield rejected(
        "names-maps-too-deep.tar.gz", "label maps one directory too deep", lambda: packed(deep), "nested_too_deep"
    )
    flat = {name.rpartition("/")[2]: data for name, data in complete().items()}
    yield rejected(
        "names-maps-without-directory.tar.gz",
        "label maps without their directory",
        lambda: packed(flat),
        "no_result_files",
    )
    many = {f"{_MAIN}/comp3_det_test_{name}.txt": GOOD for name in ("cars", "dogs", "cats")}
    yield rejected("names-all-wrong.tar.gz", "every name has the same slip", lambda: packed(many), "unknown_class")
    only_mac = {"__MACOSX/._results": b"\0", ".DS_Store": b""}
    yield rejected(
        "names-macos-alone.tar.gz",
        "nothing but what macOS adds",
        lambda: packed(only_mac),
        "ignored_files",
        "no_result_files",
    )
