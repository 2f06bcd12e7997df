"""`/metrics` for Prometheus: what web processes count, what the database knows, and what `/readyz` checks."""

import hmac
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Annotated

from fastapi import Header
from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import PlainTextResponse, Response

from vocboard.app import counters
from vocboard.app.administering.measures import gauge, measures
from vocboard.app.database import Database
from vocboard.app.errors import NotFoundError
from vocboard.app.intake import attempts
from vocboard.app.settings import Settings, UnsafeSettingsError
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.stores import archive_store
from vocboard.app.web import health
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep, StoreDep
from vocboard.app.web.routes import Routes
from vocboard.evaluator.version import VERSION

router = Routes()


@router.get(health.METRICS_PATH)
def metrics(
    database: DatabaseDep,
    store: StoreDep,
    settings: SettingsDep,
    authorization: Annotated[str, Header()] = "",
) -> Response:
    """Return all metrics to those who have the operator's token; 404 if the operator has set none."""
    token = settings.metrics_token.get_secret_value()
    if not token:
        raise NotFoundError("This server publishes no metrics.")
    if not hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode()):
        text = "Send the token of VOCBOARD_METRICS_TOKEN.\n"
        return PlainTextResponse(text, 401, {"WWW-Authenticate": "Bearer"})
    return Response(generate_latest(Metrics(settings, database, store)), media_type=CONTENT_TYPE_PLAIN_0_0_4)


class Metrics(Collector):
    """All metrics, collected for each request. If the database fails, those that it knows are missing."""

    def __init__(self, settings: Settings, database: Database, store: ArchiveStore) -> None:
        self._settings, self._database, self._store = settings, database, store

    def collect(self) -> list[Metric]:
        """Return them."""
        checked = health.check(self._settings, self._database, self._store).model_dump(exclude={"status"})
        found = [
            *counters.registry().collect(),
            gauge("build", "Always 1; the label says which version runs.", [((VERSION,), 1)], "version"),
            gauge(
                "check",
                "What /readyz checks: 1 is ok, 0 is failing; what is unknown is missing.",
                [((name,), state == "ok") for name, state in checked.items() if state != "unknown"],
                "check",
            ),
            gauge("storage_free_bytes", "Space left where uploads are received.", [((), self._store.free_bytes())]),
        ]
        with suppress(SQLAlchemyError), self._database.reading() as session:  # a check says it
            found += measures(session)
            arriving = attempts.count_in_progress(session)
            found.append(gauge("uploads_in_progress", "Uploads that are arriving or being read.", [((), arriving)]))
        return found


@contextmanager
def published_apart(settings: Settings) -> Iterator[None]:
    """Publish the metrics at `VOCBOARD_METRICS_ADDRESS`, without a token, until the block ends.

    Raises:
        UnsafeSettingsError: nothing can listen there.
    """
    host, _, port = settings.metrics_address.rpartition(":")
    with closing(Database(settings.database)) as database:
        registry = CollectorRegistry(support_collectors_without_names=True)
        registry.register(Metrics(settings, database, archive_store(settings)))
        try:
            server, thread = start_http_server(int(port), host.strip("[]"), registry)
        except (OSError, UnicodeError) as error:
            raise UnsafeSettingsError([f"VOCBOARD_METRICS_ADDRESS: {error}"]) from error
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
