"""Shared code of forms: errors, redirects, and the messages after them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile

from vocboard.app.errors import InvalidArchiveError, InvalidInputError, LimitedError, ServiceError
from vocboard.app.intake.multipart import StreamedForm
from vocboard.app.organising.phase_changes import FROZEN_DETAIL, MOVED_DATES
from vocboard.app.web.csrf import FIELD, verify_csrf

SEE_OTHER = 303


@dataclass(frozen=True, slots=True)
class FormErrors:
    """The errors of a form.

    Attributes:
        wrong: messages by field.
        message: error of the form as a whole.
    """

    status: int = 200
    wrong: dict[str, str] = field(default_factory=dict)
    message: str | None = None

    @classmethod
    def of(cls, error: ServiceError) -> "FormErrors":
        """Convert an exception to the errors of a form."""
        if isinstance(error, InvalidInputError | InvalidArchiveError):
            return cls(error.status, error.fields)
        if isinstance(error, LimitedError):
            allowed = f"{error.allowed_at.day} {error.allowed_at:%b %Y, %H:%M} UTC"  # often another day
            return cls(error.status, message=f"{error} You can try again from {allowed}.")
        return cls(error.status, message=str(error))


NO_ERRORS = FormErrors()


def token_verifier(request: Request) -> Callable[[StreamedForm], None]:
    """Return what verifies the token of a form that is read as it arrives, before its file."""
    return lambda form: verify_csrf(request, form.value(FIELD))


def _text_of_file(field: str) -> Callable[[Request], Awaitable[str]]:
    async def content(request: Request) -> str:
        file = (await request.form()).get(field)
        if not isinstance(file, UploadFile):
            return ""
        read = await file.read()
        await file.close()
        # Invalid UTF-8 becomes a replacement character, which is rejected in all of these files.
        return read.decode("utf-8-sig", errors="replace")

    return content


# The content of a small uploaded file; empty if none was chosen.
UploadedEdition = Annotated[str, Depends(_text_of_file("edition_file"))]
UploadedHashes = Annotated[str, Depends(_text_of_file("flickr_image_hashes"))]


def go_to(address: str, *, done: str | None = None) -> RedirectResponse:
    """Redirect after a form.

    Args:
        done: key of `DONE`: the message on the next page.

    Raises:
        KeyError: there is no such message.
    """
    if done is not None:
        if done not in DONE:
            raise KeyError(done)
        address += ("&" if "?" in address else "?") + urlencode({"done": done})
    return RedirectResponse(address, SEE_OTHER)


def safe_path(wanted: str) -> str:
    """Return an address of this site to go on to; anything else becomes the first page.

    >>> safe_path("/submissions?page=2"), safe_path("https://elsewhere.example"), safe_path("//elsewhere.example")
    ('/submissions?page=2', '/', '/')
    """
    is_ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if is_ours else "/"


DONE = {
    "welcome": "Email address confirmed. You are signed in.",
    "confirmed": "Email address confirmed. Sign in.",
    "waits": "Email address confirmed. Administrators have to approve your account; you will get an email.",
    "reset": "Password changed. You are signed out everywhere, and all API tokens are revoked. Sign in again.",
    "opened": "The challenge is no longer a draft: its page is what participants see.",
    "approved": "Registration approved.",
    "rejected": "Registration rejected. The account is disabled.",
    "role": "Role changed.",
    "disabled": "Account disabled: the person is signed out, and API tokens are revoked.",
    "enabled": "Account enabled. The person can sign in again.",
    "sessions": "Signed out everywhere, and all API tokens are revoked.",
    "resent": "Another link to confirm the email address is on its way.",
    "factor-reset": "Second factor removed. The person gets an email.",
    "person-deleted": "Account deleted. The person gets a last email.",
    "mail-retried": "Email is sent again.",
    "jobs-retried": "Workers try it again.",
    "account-deleted": "Your account is deleted, and you are signed out.",
    "signed-out": "You are signed out.",
    "password": "Password changed. You are signed out everywhere else, and all API tokens are revoked.",
    "profile": "Name and affiliation saved.",
    "address-requested": "If the address can be used, we have sent a link to it. Open the link to change your address.",
    "address": "Email address changed. You are signed out everywhere else.",
    "second-factor-removed": "Second factor removed. Signing in only asks for the password.",
    "identity-address": "We have sent a link to the address. Open it in this browser.",
    "key-added": "Security key added. It can stand for a code when you sign in.",
    "key-removed": "Security key removed.",
    "linked": "Linked: you can sign in with it from now on.",
    "unlinked": "Unlinked. It no longer signs in to your account.",
    "registered": "Your account is ready, and you are signed in.",
    "registered-waits": "Your account waits for the approval of an organiser; you will get an email.",
    "session": "Session signed out.",
    "token": "Token revoked.",
    "read": "Marked as read.",
    "emails": "Changes saved: what you get by email.",
    "published": "Published.",
    "replaced": "Published. It has taken the place of the earlier result.",
    "unpublished": "Unpublished.",
    "held-back": "Unpublished. Its owner cannot publish it again until an organiser allows it.",
    "allowed": "The submission can be published again.",
    "disqualified": "Submission disqualified. Its owner sees the reason.",
    "reinstated": "Disqualification lifted. Its owner gets an email.",
    "archived": "Challenge archived. It can be read, but not changed.",
    "reopened": "Challenge reopened.",
    "deleted": "Draft deleted.",
    "copied": "Copied as a draft, without dates, people and ground truth.",
    "imported": (
        "Challenge imported as an archived draft. Once you have checked it, change its visibility in Set-up → Edit."
    ),
    "invited": "Invited. The person becomes an organiser by accepting. Somebody invited before gets no second email.",
    "team-invited": "Invitation sent. The person joins by opening its link.",
    "joined": "You are in this team now.",
    "team-left": "You have left the team. Your next submission is your own.",
    "member-removed": "Removed from the team.",
    "invitation-withdrawn": "Invitation withdrawn.",
    "organiser-removed": "Organiser removed.",
    "handed-over": "Challenge handed over. You stay an organiser.",
    "left": "You no longer organise the challenge.",
    "accepted": "You are an organiser of this challenge now.",
    "declined": "Invitation declined.",
    "bulk": "Done for all chosen submissions.",
    "banned": "The person is banned, and gets an email with the reason.",
    "ban-lifted": "Ban lifted. The person gets an email. Change unpublished or disqualified results on their pages.",
    "failed": "Submission marked as failed. Its owner has the quota back.",
    "declared": "Declarations saved.",
    "described": "Changes saved.",
    "withdrawn": "Submission withdrawn.",
    "link-revoked": "Anonymous link revoked. It no longer works.",
    "created": "Challenge created as a draft. Upload the ground truth, then open it.",
    "file-added": "File uploaded.",
    "file-removed": "File deleted.",
    "reported": "Added. The leaderboard shows it without a rank.",
    "reported-removed": "Removed from the leaderboard.",
    "announced": "Announced.",
    "announcement-corrected": "Announcement changed. Nobody is notified again.",
    "announcement-removed": "Announcement removed.",
    "webhook-test": "The test is on its way. Reload this page in a quarter of a minute.",
    "webhook-removed": "Webhook removed.",
    "asked": "Question sent. You are notified of the answer, which appears here.",
    "answered": "Answer saved. Who asked is notified of new answers.",
    "question-removed": "Question removed.",
    "saved": "Changes saved.",
    "deadline": f"Changes saved. {MOVED_DATES}",
    "frozen-detail": f"Changes saved. {FROZEN_DETAIL}",
    "edition": "Edition replaced. The challenge runs all of its competitions.",
    "phase-added": "Phase added.",
    "phase-saved": "Phase saved.",
    "phase-removed": "Phase removed.",
    "admitted": "Admitted: people who register with these addresses can submit to this phase.",
    "admission-ended": "Admission ended.",
    "admission-asked": "The organisers have your request. You will be notified of their decision.",
    "request-withdrawn": "Request withdrawn.",
    "request-admitted": "Admitted. The person is notified.",
    "request-declined": "Declined. The person is notified.",
    "terms-accepted": "Terms accepted.",
    "terms-published": "Terms published. People who have not accepted them must do so before their next upload.",
    "terms-removed": "The challenge has no terms any more.",
    "quota-granted": "Extra quota granted.",
    "quota-changed": "Extra quota changed.",
    "quota-ended": "Extra quota revoked.",
    "truth": "Ground truth uploaded and encrypted.",
    "truth-confirmed": "Warnings confirmed.",
    "truth-removed": "Version removed.",
    "competitions-removed": "Competitions removed from the challenge.",
    "applying": "A worker switches to the new results.",
    "applied": "The new results are applied. Leaderboards show them now.",
    "discarded": "Re-score discarded. Nothing has changed.",
    "statistics-requested": "A worker computes next what is missing. Reload this page to see it.",
    "queued-again": "Submission queued: it will be evaluated again.",
}
