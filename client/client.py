"""The participant's client as an object, for scripts and notebooks: `vocboard.Client`."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from vocboard.client import credentials, submitting, teams, webhooks
from vocboard.client.answers import (
    Challenge,
    Person,
    StateEvent,
    Submission,
    SubmissionDetails,
    challenge,
    person,
    submission,
    submission_details,
    understood,
)
from vocboard.client.archive import OutgoingArchive
from vocboard.client.connection import Connection
from vocboard.client.editing import Changes, changes_body, submission_form
from vocboard.client.errors import ClientError, UnexpectedAnswerError
from vocboard.client.following import follow
from vocboard.client.messages import (
    Announcement,
    Notification,
    Question,
    announcement,
    notification,
    question,
)
from vocboard.client.paging import items
from vocboard.client.paths import path, phase_parameter
from vocboard.client.publishing import publish_body
from vocboard.client.resumable import UploadListener
from vocboard.client.scores import Board, CompetitionScores, board
from vocboard.client.teams import Team, team
from vocboard.client.terminal import printable
from vocboard.client.webhooks import Delivery, Webhook, delivery, webhook
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.whole_output import whole_file

EDITION_MEDIA_TYPE = "application/toml"


class WaitTimeoutError(ClientError, TimeoutError):
    """The submission was not finished before the timeout; its evaluation continues."""


@dataclass(frozen=True, slots=True)
class DownloadedFiles:
    """Files written by `Client.download`: for `vocboard.validate(results, edition, image_sets)`, or the commands."""

    edition: Path
    image_sets: Path


class Client:
    """A connection to a server as one user. Close it after use, or use it as a context manager.

    Every method raises a `ClientError` if the server rejects the request or cannot be reached. The message says what to
    do. `InvalidArchiveError` lists the `problems` of an archive; `LimitedError` says when the next upload is allowed.

    Args:
        server: its address. Default: `VOCBOARD_SERVER`, or the server of the last `vocboard login`.
        token: API token from the server's Account page. Default: `VOCBOARD_TOKEN`, or the token stored by `vocboard
            login`. Without a token, only public data can be read.
    """

    def __init__(self, server: str | None = None, token: str | None = None) -> None:
        stored = credentials.load() if server is None or token is None else credentials.Credentials()
        address = credentials.chosen_server(server, stored)
        own = credentials.chosen_token(address, stored) if token is None else credentials.checked_token(token)
        self._connection = Connection(address, own)

    @property
    def server(self) -> str:
        """The address of the server."""
        return self._connection.address

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.server!r})"

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def whoami(self) -> Person:
        """Return the owner and the scopes of the token."""
        return understood(person, self._connection.get("/me"))

    def challenges(self) -> list[Challenge]:
        """Return the challenges that this user may see, newest first."""
        return [understood(challenge, item) for item in items(self._connection, "/challenges")]

    def challenge(self, slug: str) -> Challenge:
        """Return one challenge by its short name, the last part of its URL."""
        return understood(challenge, self._connection.get(path("challenges", slug)))

    def edition(self, slug: str) -> Edition:
        """Return the edition of a challenge: its classes, competitions and rules."""
        text = self._connection.get_text(path("challenges", slug, "edition"), accept=EDITION_MEDIA_TYPE)
        return _edition(text, slug)

    def image_sets(self, slug: str, *, phase: str | None = None) -> ImageSets:
        """Return the public part of a phase's test set, for validating results before submission.

        Args:
            slug: short name of the challenge.
            phase: key of the phase. Default: the current one.
        """
        return understood(ImageSets.from_json, self._image_sets_json(slug, phase))

    def download(
        self, challenge: str, directory: str | PathLike[str], *, phase: str | None = None
    ) -> "DownloadedFiles":
        """Write the edition file and the image sets of a challenge into a directory, to check and convert offline.

        Args:
            challenge: its short name.
            directory: created if it does not exist; files of an earlier download are replaced.
            phase: key of the phase whose image sets to write; part of their file name. Default: the current one.

        Raises:
            OSError: the directory cannot be written to.
        """
        where = path("challenges", challenge, "edition")
        edition = self._connection.get_text(where, accept=EDITION_MEDIA_TYPE)
        name = _edition(edition, challenge).name
        image_sets = self._image_sets_json(challenge, phase)
        understood(ImageSets.from_json, image_sets)
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        of_phase = "" if phase is None else f"-{phase}"
        found = DownloadedFiles(folder / f"{name}.toml", folder / f"{name}-image-sets{of_phase}.json")
        for file, text in ((found.edition, edition), (found.image_sets, image_sets)):
            with whole_file(file) as unfinished:
                unfinished.write_text(text, encoding="utf-8")
        return found

    def submit(
        self,
        challenge: str,
        archive: str | PathLike[str],
        *,
        method: str,
        description: str = "",
        contributors: str | None = None,
        affiliation: str | None = None,
        training_data: str = "",
        training_annotation: str = "",
        flickr_images: str = "",
        flickr_image_hashes: str | PathLike[str] | None = None,
        declarations: Mapping[str, str | float] | None = None,
        segmentation_classes: Sequence[str] | None = None,
        phase: str | None = None,
        publish: bool = False,
        accept_warnings: bool = False,
        progress: Callable[[int, int], object] | None = None,
    ) -> SubmissionDetails:
        """Upload an archive of results, and return the queued submission.

        A lost connection or a restart of the server is waited for, up to ten minutes without progress. An interrupted
        upload of the same archive continues where it was, also in another process. Nothing is submitted twice.

        Args:
            challenge: short name of the challenge.
            archive: `.tar`, `.tar.gz`, `.tar.xz`, `.tar.bz2` or `.zip`.
            method: name of the method.
            description: description of the method.
            contributors, affiliation: of the authors. Default: as in your last submission, or as in your account.
            training_data: what the method was trained on, for competitions that require it.
            training_annotation: for segmentation methods: `segmentation_only` or `other_annotation`.
            flickr_images: whether the method was trained on images from flickr: `yes` or `no`.
            flickr_image_hashes: with `yes`, the file that `vocboard hash-images` writes.
            declarations: values by name that the challenge's edition asks for, such as `{"parameters": 25.6}`.
            segmentation_classes: classes entered for segmentation. Default: all.
            phase: key of the phase that it is for. Default: the one that is current when the upload begins.
            publish, accept_warnings: whether to publish the result once scored; to submit if many results seem wrong.
            progress: called with the number of bytes sent so far and the total; the first number is smaller than
                before where something has to be sent again.

        Raises:
            InvalidArchiveError: as `problems` says; `WarningsNotAcceptedError`: many results seem to be wrong.
            ChangedArchiveError: the file changed on disk during the upload.
            LimitedError: no further upload is allowed before `allowed_at`.
            ClientError: see above.
        """
        form = submission_form(
            segmentation_classes,
            publish=publish,
            accept_warnings=accept_warnings,
            method=method,
            description=description,
            contributors=contributors,
            affiliation=affiliation,
            training_data=training_data,
            training_annotation=training_annotation,
            flickr_images=flickr_images,
            flickr_image_hashes=flickr_image_hashes,
            declarations=declarations,
        )
        with OutgoingArchive(Path(archive)) as outgoing:
            listener = None if progress is None else UploadListener(sent=lambda sent: progress(sent, outgoing.size))
            answer = submitting.submit(
                self._connection, challenge, outgoing, form, phase_parameter(phase), listener=listener
            )
        return understood(submission_details, answer)

    def submissions(self) -> list[Submission]:
        """Return the user's own submissions, newest first."""
        return [understood(submission, item) for item in items(self._connection, "/submissions")]

    def status(self, submission: str) -> SubmissionDetails:
        """Return a submission with its state, queue position and scores."""
        return understood(submission_details, self._connection.get(path("submissions", submission)))

    def wait(
        self,
        submission: str,
        *,
        timeout: float | None = None,
        progress: Callable[[SubmissionDetails | StateEvent], object] | None = None,
    ) -> SubmissionDetails:
        """Wait until a submission is scored, failed or withdrawn, and return it.

        Args:
            submission: its identifier.
            timeout: maximum number of seconds to wait; None for no limit.
            progress: called with each change of its `state` or `queue_position`.

        Raises:
            WaitTimeoutError: the timeout has passed. It is a `TimeoutError`.
        """
        until = math.inf if timeout is None else time.monotonic() + timeout
        for step in follow(self._connection, submission, until=until):
            if progress is not None:
                progress(step)
            if isinstance(step, SubmissionDetails) and step.is_final:
                return step
        raise WaitTimeoutError(
            f"submission {submission} was not finished within {timeout} seconds; its evaluation continues"
        )

    def results(self, submission: str) -> Mapping[str, CompetitionScores]:
        """Return the scores of a submission by competition; empty until it is scored."""
        return {scores.competition: scores for scores in self.status(submission).scores}

    def curves(self, submission: str, competition: str) -> Mapping[str, Mapping[str, Sequence[float | None]]]:
        """Return the curves of one competition by class, at the challenge's detail level.

        Returns:
            Mappings with `recall` and `precision`, or `false_positive_rate` and `true_positive_rate`, of equal length.
        """
        answer = self._connection.get(path("submissions", submission, "curves", competition))
        return understood(lambda content: {str(name): dict(curve) for name, curve in content["curves"].items()}, answer)

    def diagnosis(self, submission: str, competition: str) -> Mapping[str, Any]:
        """Return what is wrong with the results of one competition: `state`, `shares`, `exact` and more."""
        return understood(dict, self._connection.get(path("submissions", submission, "diagnosis", competition)))

    def leaderboard(self, challenge: str, competition: str, *, phase: str | None = None) -> Board:
        """Return the leaderboard of one competition, the best method first.

        Args:
            challenge: its short name.
            competition: its key, such as `comp4`.
            phase: key of the phase. Default: the one whose leaderboards are shown first.
        """
        where = path("challenges", challenge, "leaderboards", competition)
        return understood(board, self._connection.get(where, phase_parameter(phase)))

    def publish(
        self, submission: str, *, competitions: Sequence[str] | None = None, replace: bool = False
    ) -> Submission:
        """Publish a scored submission on the leaderboards.

        Args:
            submission: its identifier.
            competitions: on whose leaderboards. Default: all that it entered.
            replace: whether to unpublish what the same method has published there, in the same step.
        """
        return self._changed(submission, "publish", publish_body(competitions, replace=replace))

    def unpublish(self, submission: str, *, competitions: Sequence[str] | None = None) -> Submission:
        """Remove a submission from the leaderboards of some competitions. Default: all."""
        return self._changed(submission, "unpublish", publish_body(competitions))

    def withdraw(self, submission: str) -> Submission:
        """Withdraw a submission. This cannot be undone."""
        return self._changed(submission, "withdraw")

    def edit(self, submission: str, **changes: Unpack[Changes]) -> SubmissionDetails:
        """Change what is said about a submission, such as its description; see `client.editing.Changes`."""
        answer = self._connection.patch(path("submissions", submission), changes_body(**changes))
        return understood(submission_details, answer)

    def anonymous_link(self, submission: str) -> str:
        """Create a URL that shows the result without names. An earlier URL stops working."""
        answer = self._connection.post(path("submissions", submission, "anonymous-link"))
        return understood(lambda content: str(content["url"]), answer)

    def team(self, challenge: str) -> Team:
        """Return the user's team in a challenge. Who has neither submitted nor joined a team has none."""
        return understood(team, teams.own(self._connection, challenge))

    def found_team(self, challenge: str, name: str) -> Team:
        """Found a team. The user's methods and submissions in the challenge become the team's."""
        return understood(team, teams.found(self._connection, challenge, name))

    def invite(self, challenge: str, email: str = "") -> str:
        """Invite somebody to the user's team, and return the link with which one person can join, once.

        Args:
            challenge: its short name.
            email: where the server sends the link. Default: nowhere; pass it on.
        """
        return understood(lambda content: str(content["link"]), teams.invite(self._connection, challenge, email))

    def accept_invitation(self, link: str, *, bring_team: bool = False) -> Team:
        """Join a team with the link of an invitation.

        Args:
            link: the whole link, or its last part.
            bring_team: whether all members, methods and submissions of the user's own team come along.
        """
        return understood(team, teams.accept(self._connection, link, bring_team=bring_team))

    def leave_team(self, challenge: str) -> None:
        """Leave the user's team in a challenge. What it has submitted stays with it."""
        teams.remove(self._connection, challenge, None)

    def remove_member(self, challenge: str, member: str) -> None:
        """Remove a member, by name or id, from a team that the user owns."""
        teams.remove(self._connection, challenge, member)

    def make_owner(self, challenge: str, member: str) -> Team:
        """Make a member, by name or id, an owner of the team, too."""
        return understood(team, teams.make_owner(self._connection, challenge, member))

    def announcements(self, challenge: str) -> list[Announcement]:
        """Return the announcements of a challenge, the latest first."""
        where = path("challenges", challenge, "announcements")
        return [understood(announcement, item) for item in items(self._connection, where)]

    def announce(self, challenge: str, title: str, text: str, *, email: bool = False) -> Announcement:
        """Announce something, as an organiser.

        Args:
            challenge: its short name.
            title: one line.
            text: Markdown without HTML and pictures.
            email: whether everyone who has submitted is notified, also by email.
        """
        body = {"title": title, "text": text, "email": email}
        return understood(announcement, self._connection.post(path("challenges", challenge, "announcements"), body))

    def questions(self, challenge: str) -> list[Question]:
        """Return questions with public answers and the user's own; organisers get all. Open ones come first."""
        where = path("challenges", challenge, "questions")
        return [understood(question, item) for item in items(self._connection, where)]

    def ask(self, challenge: str, text: str) -> Question:
        """Ask the organisers of a challenge."""
        return understood(question, self._connection.post(path("challenges", challenge, "questions"), {"text": text}))

    def answer(self, challenge: str, question_id: str, text: str, *, public: bool = False) -> Question:
        """Answer a question, as an organiser, or change its answer and who sees it.

        Args:
            challenge: its short name.
            question_id: its identifier.
            text: Markdown without HTML and pictures.
            public: whether question and answer are shown to everyone who sees the challenge, without the asker's name.
        """
        where = path("challenges", challenge, "questions", question_id, "answer")
        return understood(question, self._connection.post(where, {"text": text, "public": public}, method="PUT"))

    def notifications(self, *, unread: bool = False) -> list[Notification]:
        """Return what the user was told, newest first; or only what is unread."""
        wanted = {"unread": "true"} if unread else {}
        return [understood(notification, item) for item in items(self._connection, "/notifications", wanted)]

    def mark_read(self, notifications: Sequence[str] | None = None) -> None:
        """Mark notifications as read, by their identifiers. Default: all."""
        body = {"ids": None if notifications is None else list(notifications)}
        self._connection.post("/notifications/read", body)

    def emails(self, **chosen: bool) -> Mapping[str, bool]:
        """Return which kinds of notifications the user also gets by email, after changing those that are given."""
        where = "/account/emails"
        return understood(dict, self._connection.patch(where, chosen) if chosen else self._connection.get(where))

    def webhooks(self, *, challenge: str | None = None) -> list[Webhook]:
        """Return the user's webhooks, or those of a challenge that the user organises."""
        return [understood(webhook, one) for one in understood(list, webhooks.listed(self._connection, challenge))]

    def add_webhook(self, url: str, events: Sequence[str], *, challenge: str | None = None) -> Webhook:
        """Let the server tell an address of events, and return the webhook with its `secret`, which is shown only now.

        Args:
            url: an https address on the internet.
            events: such as `submission.scored`; docs/api.md lists them.
            challenge: short name of one that the user organises, to be told of all that is submitted to it.
        """
        return understood(webhook, webhooks.added(self._connection, challenge, url, events))

    def remove_webhook(self, webhook_id: str, *, challenge: str | None = None) -> None:
        """Remove a webhook, with what waits for it."""
        webhooks.removed(self._connection, challenge, webhook_id)

    def test_webhook(self, webhook_id: str, *, challenge: str | None = None) -> Delivery:
        """Send a webhook a test within a quarter of a minute; if it arrives, the webhook is on."""
        return understood(delivery, webhooks.tried(self._connection, challenge, webhook_id))

    def deliveries(self, webhook_id: str, *, challenge: str | None = None) -> list[Delivery]:
        """Return what a webhook was told and how it answered, newest first."""
        return [understood(delivery, one) for one in webhooks.deliveries(self._connection, challenge, webhook_id)]

    def change_account(self, *, name: str | None = None, affiliation: str | None = None) -> None:
        """Change the user's name or affiliation. What was submitted keeps the names given with it."""
        given = {"name": name, "affiliation": affiliation}
        self._connection.patch("/account", {key: value for key, value in given.items() if value is not None})

    def export_account(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return what the server stores about the user, by table."""
        return understood(dict, self._connection.get("/account/export"))

    def _image_sets_json(self, challenge: str, phase: str | None) -> str:
        where = path("challenges", challenge, "image-sets")
        return self._connection.get_text(where, phase_parameter(phase), accept="application/json")

    def _changed(self, identifier: str, change: str, body: Mapping[str, Any] | None = None) -> Submission:
        return understood(submission, self._connection.post(path("submissions", identifier, change), body))


def _edition(text: str, slug: str) -> Edition:
    try:
        return editions.read_text(text, slug)
    except editions.EditionFileError as error:
        mistakes = "; ".join(map(printable, str(error).splitlines()))
        raise UnexpectedAnswerError(
            f"the edition may need an extension that is not installed here, or a newer vocboard: {mistakes}"
        ) from error
