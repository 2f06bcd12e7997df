"""What participants say of a submission is checked at once, all of it."""

from dataclasses import replace

import pytest

from vocboard.app.api.schemas.submissions import Changes
from vocboard.app.errors import InvalidInputError
from vocboard.app.intake.multipart import ARCHIVE_FIELD, FIXED_FIELDS, NOT_SUBMITTED
from vocboard.app.participating import describing
from vocboard.app.submissions.forms import (
    Needed,
    SubmissionForm,
    checked,
    needed_by,
    needed_by_each,
    read_listed_images,
    statements,
    unpack_hashes,
)
from vocboard.app.submissions.models import Declared
from vocboard.evaluator.declarations import BUILT_IN, RESERVED_NAMES, TRAINING_DATA, Declaration, DeclarationKind
from vocboard.evaluator.editions import load

EDITION = load("VOC2012")


HASHES = f"{'0a' * 32} {'f0' * 8}\n{'1b' * 32} {'0f' * 8}\n"


def needed(*competitions: str) -> dict[str, Needed]:
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
    checked(SubmissionForm("Method", declarations=declared), edition=EDITION, needed=needed("comp5"))


def test_what_each_competition_asks_for_is_known_before_the_archive() -> None:
    free = [EDITION.competitions[key] for key in ("comp2", "comp4")]
    assert set(needed_by_each(free)) == {"training_data", "flickr_images"}
    assert needed_by_each([*free, EDITION.competitions["comp1"]]) == {}


@pytest.mark.parametrize(
    ("declared", "listed", "field"),
    [
        ({"flickr_images": "perhaps"}, "", "flickr_images"),
        ({"flickr_images": "yes"}, "", "flickr_image_hashes"),
        ({"flickr_images": "yes"}, "# nothing", "flickr_image_hashes"),
        ({"flickr_images": "no"}, HASHES, "flickr_images"),
        ({"flickr_images": "yes"}, f"{HASHES}photo.jpg", "flickr_image_hashes"),
        ({"training_annotation": "boxes"}, "", "training_annotation"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(declared: dict[str, str], listed: str, field: str) -> None:
    form = SubmissionForm("Method", declarations=declared, flickr_image_hashes=read_listed_images(listed))
    assert set(wrong(form)) == {field}


def test_what_is_left_open_is_shown_as_such() -> None:
    form = SubmissionForm(
        "Method",
        declarations={"training_data": "COCO.", "flickr_images": "yes"},
        flickr_image_hashes=read_listed_images(HASHES),
    )
    shown = statements(checked(form, edition=EDITION)[1], BUILT_IN.values())
    assert [one.text for one in shown] == ["COCO.", None, "2, listed for the organisers"]


def test_the_list_of_hashes_comes_back_as_it_was_given() -> None:
    read = read_listed_images(f"# flickr\n\n{HASHES.upper()}")
    assert (read.count, unpack_hashes(read.packed)) == (2, HASHES)
    assert read_listed_images("").packed is None


@pytest.mark.parametrize(
    ("name", "kept"), [("x" * 300 + "\n.tar.gz", "x" * 248 + ".tar.gz"), ("", "archive"), (" \u200b", "archive")]
)
def test_a_long_file_name_keeps_its_end_and_there_is_always_one(name: str, kept: str) -> None:
    form, _ = checked(SubmissionForm("Method", archive_name=name), edition=EDITION)
    assert form.archive_name == kept


OWN = [
    Declaration("ms_per_image", "Time", DeclarationKind.NUMBER, unit="ms"),
    Declaration("licence", "Licence", DeclarationKind.CHOICE, {"open": "Apache 2.0", "none": "not released"}),
    Declaration("hardware", "Hardware", is_required=False),
]
OWN_EDITION = replace(
    EDITION, competitions={"comp4": replace(EDITION.competitions["comp4"], declarations=(TRAINING_DATA, *OWN))}
)


def test_declarations_that_the_edition_defines_are_checked_by_kind_all_at_once() -> None:
    declared = {"training_data": "COCO.", "ms_per_image": "fast", "licence": "mine", "hardware": "a\u202eb"}
    with pytest.raises(InvalidInputError) as raised:
        checked(SubmissionForm(" ", declarations=declared), edition=OWN_EDITION)
    assert raised.value.fields == {
        "method_name": "Required.",
        "ms_per_image": "Enter a number that is at least 0, such as 25.6.",
        "licence": "Choose open or none.",
        "hardware": "Remove the invisible character U+202E (right-to-left override) after “a”.",
    }


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "1e999", "1,5", "1_000", "0x10", "twelve", "\u0661", "1" * 400])
def test_no_other_text_is_a_number(text: str) -> None:
    with pytest.raises(InvalidInputError):
        checked(SubmissionForm("Method", declarations={"ms_per_image": text}), edition=OWN_EDITION)


@pytest.mark.parametrize(
    ("given", "number"),
    [("12.5", 12.5), (" 7 ", 7.0), (".5", 0.5), ("2.", 2.0), ("1e3", 1000.0), (0, 0.0), (0.25, 0.25)],
)
def test_numbers_are_stored_as_such(given: str | float, number: float) -> None:
    form, declared = checked(SubmissionForm("Method", declarations={"ms_per_image": given}), edition=OWN_EDITION)
    assert form.declarations == declared.values == {"ms_per_image": number}


def test_only_required_ones_must_be_made_at_the_upload() -> None:
    needed = needed_by(OWN_EDITION.competitions.values())
    with pytest.raises(InvalidInputError) as raised:
        checked(SubmissionForm("Method"), edition=OWN_EDITION, needed=needed)
    assert raised.value.fields == {
        "training_data": "For comp4, describe the training data.",
        "ms_per_image": "For comp4, enter a number, in ms.",
        "licence": "For comp4, choose open or none.",
    }


def test_values_are_shown_in_words_with_units() -> None:
    declared = Declared({"ms_per_image": 1234.5, "licence": "open", "hardware": "A toaster"})
    assert [(one.text, one.brief) for one in statements(declared, OWN)] == [
        ("1,234.5 ms", "Time: 1,234.5 ms"),
        ("Apache 2.0", "Licence: Apache 2.0"),
        ("A toaster", "Hardware: A toaster"),
    ]


def test_values_of_another_kind_than_the_edition_asks_for_now_count_as_not_declared() -> None:
    declared = Declared({"ms_per_image": "fast", "licence": 3.0})
    assert [one.value for one in statements(declared, OWN)] == [None, None, None]


def test_no_edition_can_define_a_declaration_called_like_another_field() -> None:
    assert {*FIXED_FIELDS, *NOT_SUBMITTED, ARCHIVE_FIELD, *describing.FIELDS} <= RESERVED_NAMES
    assert set(Changes.model_fields) <= RESERVED_NAMES | set(BUILT_IN)
