"""The fields of a submission's multipart form."""

from vocboard.app.intake.multipart import CSRF_FIELD, StreamedForm
from vocboard.app.settings import MEBIBYTE
from vocboard.app.submissions import forms
from vocboard.app.submissions.forms import SubmissionForm

ARCHIVE_FIELD = "archive"
REASON_FIELD = "reason"  # of a re-score with uploaded ground truth
HASHES_FIELD = "flickr_image_hashes"
CLASSES_FIELD = "segmentation_classes"
DIGEST_FIELD = "archive_sha256"  # of the file that was sent, if the client knows it
INCOMPLETE_FIELD = "submit_incomplete"  # `true`: also without some classes
WARNINGS_FIELD = "accept_warnings"  # `true`: also if warnings are about many of the results
IDENTICAL_FIELD = "submit_identical"  # `true`: also an archive that was submitted before
CONFIRMATIONS = (WARNINGS_FIELD, INCOMPLETE_FIELD, IDENTICAL_FIELD)
YES = frozenset({"true", "yes", "on", "1"})
SUBMITTED_FIELDS = frozenset(  # all but the token of the page, and what is only asked about
    {
        "method_name",
        "method_description",
        "contributors",
        "affiliation",
        "training_data",
        "training_annotation",
        "flickr_images",
        HASHES_FIELD,
        CLASSES_FIELD,
        "publish",
    }
)
KNOWN_FIELDS = SUBMITTED_FIELDS | {CSRF_FIELD, DIGEST_FIELD, INCOMPLETE_FIELD, WARNINGS_FIELD, IDENTICAL_FIELD}
FIELD_LIMITS = {
    HASHES_FIELD: 8 * MEBIBYTE,  # about 100,000 images
    CLASSES_FIELD: 16 * 1024,
}


def submission_form(form: StreamedForm) -> SubmissionForm:
    """Return the form of a participant's multipart body.

    The fields are `method_name`, `method_description`, `contributors`, `affiliation`, those of the declarations
    (`training_data`, `training_annotation`, `flickr_images`, `flickr_image_hashes`), `publish` (`true` to publish the
    result as soon as it is scored), and `segmentation_classes`: once for every class entered, or the classes separated
    by commas; none for all of them. Without contributors or affiliation, they are those of `previous_answers`.
    """
    classes = [name.strip() for value in form.fields.get(CLASSES_FIELD, []) for name in value.split(",")]
    entered = tuple(dict.fromkeys(name for name in classes if name))
    return SubmissionForm(
        method_name=form.value("method_name"),
        description=form.value("method_description"),
        contributors=form.value("contributors") if "contributors" in form.fields else None,
        affiliation=form.value("affiliation") if "affiliation" in form.fields else None,
        training_data=form.value("training_data"),
        training_annotation=form.value("training_annotation"),
        flickr_images=form.value("flickr_images"),
        flickr_image_hashes=forms.read_listed_images(form.value(HASHES_FIELD)),
        segmentation_classes=entered or None,
        archive_name=form.file_name,
        publish=form.value("publish").lower() in YES,
    )
