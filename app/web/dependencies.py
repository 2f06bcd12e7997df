"""Dependencies of handlers. For example, a parameter `database: DatabaseDep` receives the database.

To add one, add a field to `Services`, create it in `create_app`, and add a function and its alias here. For the user of
a request, see `app.web.identity`.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.requests import HTTPConnection

from vocboard.app.accounts.account_service import AccountService
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.accounts.signing_in import SignInService
from vocboard.app.database import Database
from vocboard.app.intake.service import Intake
from vocboard.app.intake.validation import Validator
from vocboard.app.leaderboards.current import Boards
from vocboard.app.messaging.notifier import WorkerNotifier
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
    """

    settings: Settings
    database: Database
    store: ArchiveStore
    ground_truth_inbox: GroundTruthInbox
    validator: Validator
    notifier: WorkerNotifier
    boards: Boards
    open_streams: OpenStreams
    password_work: PasswordWork
    sign_in_service: SignInService


def services_of(connection: HTTPConnection) -> Services:
    """Return the services of the application that serves a request."""
    services: Services = connection.app.state.services
    return services


# Asynchronous, so that they need no thread.


async def _services(request: Request) -> Services:
    return services_of(request)


async def _settings(request: Request) -> Settings:
    return services_of(request).settings


async def _database(request: Request) -> Database:
    return services_of(request).database


async def _store(request: Request) -> ArchiveStore:
    return services_of(request).store


async def _notifier(request: Request) -> WorkerNotifier:
    return services_of(request).notifier


async def _boards(request: Request) -> Boards:
    return services_of(request).boards


async def _open_streams(request: Request) -> OpenStreams:
    return services_of(request).open_streams


async def _account_service(request: Request) -> AccountService:
    services = services_of(request)
    return AccountService(
        settings=services.settings,
        database=services.database,
        password_work=services.password_work,
        notifier=services.notifier,
    )


async def _sign_in_service(request: Request) -> SignInService:
    return services_of(request).sign_in_service


async def _intake(request: Request) -> Intake:
    services = services_of(request)
    return Intake(
        settings=services.settings,
        database=services.database,
        store=services.store,
        ground_truth_inbox=services.ground_truth_inbox,
        validator=services.validator,
        notifier=services.notifier,
    )


ServicesDep = Annotated[Services, Depends(_services)]  # for handlers that are called often and need several
SettingsDep = Annotated[Settings, Depends(_settings)]
DatabaseDep = Annotated[Database, Depends(_database)]
StoreDep = Annotated[ArchiveStore, Depends(_store)]
NotifierDep = Annotated[WorkerNotifier, Depends(_notifier)]
BoardsDep = Annotated[Boards, Depends(_boards)]
OpenStreamsDep = Annotated[OpenStreams, Depends(_open_streams)]
AccountServiceDep = Annotated[AccountService, Depends(_account_service)]
SignInServiceDep = Annotated[SignInService, Depends(_sign_in_service)]
IntakeDep = Annotated[Intake, Depends(_intake)]
