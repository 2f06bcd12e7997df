"""The web application: its state, its routes and its middleware."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import SQLAlchemyError
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.types import Scope

from vocboard.app import api, pages
from vocboard.app.accounts.openid import OpenId
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.accounts.signing_in import SignInService
from vocboard.app.api import documentation, uploads
from vocboard.app.api.router import PREFIX
from vocboard.app.database import Database
from vocboard.app.intake.body_limit import BodyLimit
from vocboard.app.intake.resumable import remove_expired
from vocboard.app.intake.validation import Validator
from vocboard.app.leaderboards.current import Boards
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.pages.rendering import error_page
from vocboard.app.settings import Environment, Settings
from vocboard.app.storage.stores import archive_store, ground_truth_inbox
from vocboard.app.submissions import queries as submissions
from vocboard.app.submissions.pruning import prune
from vocboard.app.web import health, metrics, problem_details, routes, security_txt
from vocboard.app.web.access_log import AccessLog
from vocboard.app.web.csrf import ForgeryProtection
from vocboard.app.web.dependencies import Services
from vocboard.app.web.headers import CrossOriginReads, SecurityHeaders
from vocboard.app.web.idempotency import IdempotentRequests
from vocboard.app.web.middleware import Forwarded, HeadAsGet, PublicHost, ReadingTurns, RetryConflicts
from vocboard.app.web.open_streams import OpenStreams
from vocboard.app.web.preconditions import EntityTags
from vocboard.app.web.rate_limit_headers import RateLimitHeaders
from vocboard.app.web.tus import TusProtocol
from vocboard.evaluator.version import VERSION

PRUNING_DELAY = timedelta(seconds=30)  # after the start, so as not to delay the first requests
PRUNING_INTERVAL = timedelta(minutes=10)
STATIC_DIRECTORY = Path(__file__).parent / "static"

_log = logging.getLogger(__name__)


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the web application.

    What its handlers need is in `application.state.services`; `app.web.dependencies` gives it to them.

    Args:
        settings: by default, read from the environment.

    Raises:
        UnsafeSettingsError: settings that production requires are missing or unsafe.
    """
    settings = settings or Settings()
    settings.require("secret_key", "proxy_secret", "database_url", "broker_url")
    application = FastAPI(
        title="vocboard",
        summary="Submissions, scores and leaderboards of visual object challenges.",
        description=documentation.DESCRIPTION,
        version=VERSION,
        debug=False,  # tracebacks only go to the log, whatever the settings
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        lifespan=_lifespan,
        middleware=_middleware(settings),
    )
    application.state.services = _services(settings)
    problem_details.install(application, error_page=error_page)
    documentation.install(application)
    application.mount("/static", Assets(directory=STATIC_DIRECTORY), name="static")
    # In the order in which they are tried: what is requested most comes first.
    parts = health, metrics, security_txt, *pages.OFTEN_REQUESTED, *api.PARTS, *pages.OTHERS
    routes.install(application, parts)
    return application


def _services(settings: Settings) -> Services:
    database, work = Database(settings.database, wake=WorkerNotifier(settings).wake), PasswordWork()
    return Services(
        settings=settings,
        database=database,
        store=archive_store(settings),
        ground_truth_inbox=ground_truth_inbox(settings),
        validator=Validator(settings),
        boards=Boards(database),
        open_streams=OpenStreams(),
        password_work=work,
        sign_in_service=SignInService(work, settings),
        openid=OpenId(settings),
    )


class Assets(StaticFiles):
    """Static files. URLs with a version hash can be cached forever."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, or raise 404."""
        response = await super().get_response(path, scope)
        has_version = scope["query_string"].startswith(b"v=")
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if has_version else "no-cache"
        return response


@asynccontextmanager
async def _lifespan(application: FastAPI) -> AsyncIterator[None]:
    services: Services = application.state.services
    await anyio.to_thread.run_sync(_set_up_store, services)
    services.ground_truth_inbox.set_up()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(services.validator.keep_ready)
            tasks.start_soon(_keep_pruned, services)
            yield
            tasks.cancel_scope.cancel()
    finally:
        await services.openid.close()
        services.validator.close()
        services.password_work.close()
        services.database.close()


def _set_up_store(services: Services) -> None:
    """Create the archive store, unless it must be there: what is not mounted must not be created again, empty."""
    try:
        with services.database.reading() as session:
            is_in_use = submissions.any_archive(session)
    except SQLAlchemyError:
        is_in_use = True  # not known yet
    if not is_in_use or not services.store.objects.needs_directory:
        services.store.set_up()
    elif not services.store.can_write():
        place = services.settings.store or services.settings.archives
        _log.error("the archives of submissions are missing, or cannot be written: %s", place)


async def _keep_pruned(services: Services) -> None:
    """Prune the archives periodically; errors are logged, and pruning is retried at the next interval."""
    kept_for = services.settings.withdrawn_archives_kept_for
    while True:
        await anyio.sleep(PRUNING_DELAY.total_seconds())
        try:
            await anyio.to_thread.run_sync(
                partial(prune, services.database, services.store, withdrawn_kept_for=kept_for)
            )
            await anyio.to_thread.run_sync(remove_expired, services.database, services.store)
        except (OSError, SQLAlchemyError):
            _log.exception("pruning the archives failed")
        await anyio.sleep(PRUNING_INTERVAL.total_seconds())


def _middleware(settings: Settings) -> list[Middleware]:
    """Return the middleware, outermost first."""
    is_embedded = settings.environment is Environment.EMBEDDED
    return [
        Middleware(Forwarded, secret=settings.proxy_secret.get_secret_value()),
        Middleware(AccessLog),
        Middleware(SecurityHeaders, tls=settings.secure_cookies),
        *([Middleware(CrossOriginReads, path=PREFIX)] if settings.cross_origin_reads else []),
        Middleware(PublicHost, public_url=settings.public_url, accepts_addresses=is_embedded),
        Middleware(HeadAsGet),
        Middleware(TusProtocol, path=uploads.PATH),
        Middleware(problem_details.ErrorResponses, error_page=error_page),
        Middleware(ReadingTurns),
        Middleware(BodyLimit),
        Middleware(ForgeryProtection, settings=settings),
        Middleware(RetryConflicts),
        Middleware(RateLimitHeaders, path=PREFIX),
        Middleware(IdempotentRequests, path=PREFIX),
        Middleware(EntityTags, path=PREFIX),
    ]
