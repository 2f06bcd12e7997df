"""`/metrics` for Prometheus: what web processes count, what the database knows, and what `/readyz` checks."""

import hmac
from contextlib import suppress
from typing import Annotated

from fastapi import Header
from prometheus_client import Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import PlainTextResponse, Response

from vocboard.app import counters
from vocboard.app.administering.measures import gauge, measures
from vocboard.app.errors import NotFoundError
from vocboard.app.intake import attempts
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
    """Return all metrics to those who have the operator's token; 404 if the operator has set none.

    If the database fails, those that it knows are missing.
    """
    token = settings.metrics_token.get_secret_value()
    if not token:
        raise NotFoundError("This server publishes no metrics.")
    if not hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode()):
        text = "Send the token of VOCBOARD_METRICS_TOKEN.\n"
        return PlainTextResponse(text, 401, {"WWW-Authenticate": "Bearer"})
    checked = health.check(settings, database, store).model_dump(exclude={"status"})
    found = [
        *counters.registry().collect(),
        gauge("build", "Always 1; the label says which version runs.", [((VERSION,), 1)], "version"),
        gauge(
            "check",
            "What /readyz checks: 1 is ok, 0 is failing; what is unknown is missing.",
            [((name,), state == "ok") for name, state in checked.items() if state != "unknown"],
            "check",
        ),
        gauge("storage_free_bytes", "Space left where uploads are received.", [((), store.free_bytes())]),
    ]
    with suppress(SQLAlchemyError), database.reading() as session:  # a check says it
        found += measures(session)
        arriving = attempts.count_in_progress(session)
        found.append(gauge("uploads_in_progress", "Uploads that are arriving or being read.", [((), arriving)]))
    return Response(generate_latest(_Collected(found)), media_type=CONTENT_TYPE_PLAIN_0_0_4)


class _Collected:
    """Families that have been collected, as the client's writer takes them."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        """Return them."""
        return self._families
