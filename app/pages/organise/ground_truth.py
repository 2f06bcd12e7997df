"""What organisers do with versions of ground truth after their import."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import ground_truth_versions as versions
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database
from vocboard.app.errors import ConflictError
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.pages.forms import go_to
from vocboard.app.pages.organise.challenges import challenge_page
from vocboard.app.settings import Settings
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import Organiser

router = APIRouter(prefix="/organise/{slug}/ground-truth/{number}")

VersionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]


class Actions:
    """Changes one version, and shows the challenge's page again."""

    def __init__(
        self, request: Request, database: DatabaseDep, settings: SettingsDep, notifier: NotifierDep, user: Organiser
    ) -> None:
        self._request = request
        self._database: Database = database
        self._settings: Settings = settings
        self._notifier: WorkerNotifier = notifier
        self._user: User = user

    def change(self, slug: str, number: int, change: Callable[..., object], *, done: str) -> Response:
        """Call a service function; workers then look for versions that can become current."""
        try:
            with self._database.writing() as session:
                challenge = challenges.get_organised(session, slug, self._user)
                change(session, challenge=challenge, user=self._user, number=number)
        except ConflictError as error:
            return challenge_page(self._request, self._database, self._settings, self._user, slug, refusal=error)
        self._notifier.jobs_added()
        return go_to(f"/organise/{slug}", done=done)


ActionsDep = Annotated[Actions, Depends()]


@router.post("/confirm", dependencies=[Depends(protect_form)])
def confirm_ground_truth(actions: ActionsDep, slug: str, number: VersionNumber) -> Response:
    """Confirm the warnings of the import."""
    return actions.change(slug, number, versions.confirm, done="truth-confirmed")


@router.post("/remove", dependencies=[Depends(protect_form)])
def remove_ground_truth(actions: ActionsDep, slug: str, number: VersionNumber) -> Response:
    """Remove a version that could not be imported."""
    return actions.change(slug, number, versions.remove_failed, done="truth-removed")


@router.post("/remove-competitions", dependencies=[Depends(protect_form)])
def remove_unscorable(actions: ActionsDep, slug: str, number: VersionNumber) -> Response:
    """Remove the competitions that a version cannot score from the challenge."""
    return actions.change(slug, number, versions.remove_unscorable, done="competitions-removed")
