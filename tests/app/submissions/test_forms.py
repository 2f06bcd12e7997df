"""What participants say of a submission is checked at once, all of it."""

import pytest

from vocboard.app.errors import InvalidInputError
from vocboard.app.submissions.forms import (
    SubmissionForm,
    checked,
    needed_by,
    needed_by_each,
    read_listed_images,
    statements,
    unpack_hashes,
)
from vocboard.evaluator.editions import Declaration, load

EDITION = load("VOC2012")


HASHES = f"{'0a' * 32} {'f0' * 8}\n{'1b' * 32} {'0f' * 8}\n"


def needed(*competitions: str) -> dict[Declaration, list[str]]:
    return needed_by(EDITION.competitions[key] for key in competitions)


def wrong(form: SubmissionForm, *competitions: str) -> dict[str, str]:
    with pytest.raises(InvalidInputError) as raised:
        checked(form, edition=EDITION, needed=needed(*competitions))
    return raised.value.fields


def test_reports_all_fields_at_once() -> None:
    form = SubmissionForm(method_name=" ", contributors="x" * 1001, segmentation_classes=("unicorn",))
    assert set(wrong(form, "comp6")) == {"method_name", "contributors", "training_data", "segmentation_classes"}


def test_names_the_fields_as_the_form_does() -> None:
    assert set(wrong(SubmissionForm("Method", description="x" * 10_001))) == {"method_description"}


def test_tidies_white_space_and_keeps_paragraphs() -> None:
    form, _ = checked(SubmissionForm(" Fast\tR-CNN ", description=" a\r\n\r\nb "), edition=EDITION)
    assert (form.method_name, form.description) == ("Fast R-CNN", "a\n\nb")


def test_declaring_no_class_at_all_is_refused() -> None:
    assert set(wrong(SubmissionForm("Method", segmentation_classes=()))) == {"segmentation_classes"}


@pytest.mark.parametrize(
    ("competition", "fields"),
    [("comp1", set()), ("comp2", {"training_data"}), ("comp5", {"training_annotation"}), ("comp6", {"training_data"})],
)
def test_asks_for_declarations_where_the_rules_do(competition: str, fields: set[str]) -> None:
    if fields:
        assert set(wrong(SubmissionForm("Method"), competition)) == fields
    else:
        checked(SubmissionForm("Method"), edition=EDITION, needed=needed(competition))


@pytest.mark.parametrize(
    "declared", [{"training_data": "Segmentations."}, {"training_annotation": "segmentation_only"}]
)
def test_a_statement_in_words_counts_for_the_annotation(declared: dict[str, str]) -> None:
    checked(SubmissionForm("Method", **declared), edition=EDITION, needed=needed("comp5"))  # type: ignore[arg-type]


def test_what_each_competition_asks_for_is_known_before_the_archive() -> None:
    free = [EDITION.competitions[key] for key in ("comp2", "comp4")]
    assert set(needed_by_each(free)) == {Declaration.TRAINING_DATA, Declaration.FLICKR_IMAGES}
    assert needed_by_each([*free, EDITION.competitions["comp1"]]) == {}


@pytest.mark.parametrize(
    ("declared", "field"),
    [
        ({"flickr_images": "perhaps"}, "flickr_images"),
        ({"flickr_images": "yes"}, "flickr_image_hashes"),
        ({"flickr_images": "yes", "flickr_image_hashes": read_listed_images("# nothing")}, "flickr_image_hashes"),
        ({"flickr_images": "no", "flickr_image_hashes": read_listed_images(HASHES)}, "flickr_images"),
        (
            {"flickr_images": "yes", "flickr_image_hashes": read_listed_images(f"{HASHES}photo.jpg")},
            "flickr_image_hashes",
        ),
        ({"training_annotation": "boxes"}, "training_annotation"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(declared: dict[str, object], field: str) -> None:
    assert set(wrong(SubmissionForm("Method", **declared))) == {field}  # type: ignore[arg-type]


def test_what_is_left_open_is_shown_as_such() -> None:
    form = SubmissionForm(
        "Method", training_data="COCO.", flickr_images="yes", flickr_image_hashes=read_listed_images(HASHES)
    )
    shown = statements(checked(form, edition=EDITION)[1], Declaration)
    assert [one.text for one in shown] == ["COCO.", None, "2, listed for the organisers"]


def test_the_list_of_hashes_comes_back_as_it_was_given() -> None:
    read = read_listed_images(f"# flickr\n\n{HASHES.upper()}")
    assert (read.count, unpack_hashes(read.packed)) == (2, HASHES)
    assert read_listed_images("").packed is None


def test_a_long_file_name_keeps_its_end() -> None:
    form, _ = checked(SubmissionForm("Method", archive_name="x" * 300 + "\n.tar.gz"), edition=EDITION)
    assert len(form.archive_name) == 255
    assert form.archive_name.endswith("x.tar.gz")
