"""Dependencies of handlers. For example, a parameter `database: DatabaseDep` receives the database.

To add one, add a field to `Services`, create it in `create_app`, and add its alias here. For the user of
a request, see `app.web.identity`.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from starlette.requests import HTTPConnection

from vocboard.app.accounts.account_service import AccountService
from vocboard.app.accounts.openid import OpenId
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.accounts.signing_in import SignInService
from vocboard.app.database import Database
from vocboard.app.intake.service import Intake
from vocboard.app.intake.validation import Validator
from vocboard.app.leaderboards.current import Boards
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox
from vocboard.app.web.open_streams import OpenStreams


@dataclass(slots=True)
class Services:
    """The services of a web process, shared by all requests: `application.state.services`.

    Attributes:
        store: the archive store.
        validator: validates uploads.
        boards: the current leaderboards.
        open_streams: counts event streams.
        password_work: hashes passwords.
        openid: asks the providers that people sign in with.
    """

    settings: Settings
    database: Database
    store: ArchiveStore
    ground_truth_inbox: GroundTruthInbox
    validator: Validator
    boards: Boards
    open_streams: OpenStreams
    password_work: PasswordWork
    sign_in_service: SignInService
    openid: OpenId

    @property
    def account_service(self) -> AccountService:
        """Operations on accounts."""
        return AccountService(self.settings, self.database, self.password_work)

    @property
    def intake(self) -> Intake:
        """The way in of uploads."""
        return Intake(self.settings, self.database, self.store, self.ground_truth_inbox, self.validator)


def services_of(connection: HTTPConnection) -> Services:
    """Return the services of the application that serves a request."""
    services: Services = connection.app.state.services
    return services


def services_of_application(application: FastAPI) -> Services:
    """Return the services of an application."""
    services: Services = application.state.services
    return services


def _service(name: str) -> Any:
    """Return the dependency on an attribute of `Services`; asynchronous, so that it needs no thread."""

    async def service(request: Request) -> Any:
        return getattr(services_of(request), name)

    return Depends(service)


async def _services(request: Request) -> Services:
    return services_of(request)


ServicesDep = Annotated[Services, Depends(_services)]  # for handlers that are called often and need several
SettingsDep = Annotated[Settings, _service("settings")]
DatabaseDep = Annotated[Database, _service("database")]
StoreDep = Annotated[ArchiveStore, _service("store")]
BoardsDep = Annotated[Boards, _service("boards")]
OpenStreamsDep = Annotated[OpenStreams, _service("open_streams")]
AccountServiceDep = Annotated[AccountService, _service("account_service")]
IntakeDep = Annotated[Intake, _service("intake")]
