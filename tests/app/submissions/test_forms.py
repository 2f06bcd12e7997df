"""What participants say of a submission is checked at once, all of it."""

import pytest

from app.errors import InvalidInputError
from app.submissions.forms import SubmissionForm, checked, training_statements
from evaluator.editions import load

EDITION = load("VOC2012")


def wrong(form: SubmissionForm, *competitions: str) -> dict[str, str]:
    with pytest.raises(InvalidInputError) as raised:
        checked(form, edition=EDITION, competitions=competitions)
    return raised.value.fields


def test_tells_of_all_fields_at_once() -> None:
    form = SubmissionForm(method_name=" ", contributors="x" * 1001, segmentation_classes=("unicorn",))
    assert set(wrong(form, "comp6")) == {"method_name", "contributors", "training_data", "segmentation_classes"}


def test_names_the_fields_as_the_form_does() -> None:
    assert set(wrong(SubmissionForm("Method", description="x" * 10_001))) == {"method_description"}


def test_tidies_white_space_and_keeps_paragraphs() -> None:
    form = checked(SubmissionForm(" Fast\tR-CNN ", description=" a\r\n\r\nb "), edition=EDITION)
    assert (form.method_name, form.description) == ("Fast R-CNN", "a\n\nb")


def test_declaring_no_class_at_all_is_refused() -> None:
    assert set(wrong(SubmissionForm("Method", segmentation_classes=()))) == {"segmentation_classes"}


@pytest.mark.parametrize(("competition", "asks"), [("comp1", False), ("comp2", True), ("comp5", True), ("comp6", True)])
def test_asks_for_training_data_where_the_rules_do(competition: str, asks: bool) -> None:
    assert bool(training_statements([EDITION.competitions[competition]])) is asks


def test_a_long_file_name_keeps_its_end() -> None:
    form = checked(SubmissionForm("Method", archive_name="x" * 300 + "\n.tar.gz"), edition=EDITION)
    assert len(form.archive_name) == 255
    assert form.archive_name.endswith("x.tar.gz")
