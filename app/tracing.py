"""Traces for OpenTelemetry: a span for each request and each job, and in it one for each statement of the database.

They are sent if OpenTelemetry's own variable says where to: `OTEL_EXPORTER_OTLP_ENDPOINT`. Like the log, spans have ids
and no contents: no addresses of pages, which can hold tokens, no values in statements, and no messages of errors. So
they are our own: FastAPI's, which go to a global provider, have addresses.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, event

from vocboard.evaluator.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
SECONDS = 2  # by default, a process whose collector is away would take ten seconds longer to stop
_STARTED = "tracing_started"  # in `Connection.info`: when a statement began, in ns

_provider: "TracerProvider | None" = None
_tracer: "Tracer | None" = None


def configure(service: str) -> None:
    """Let this process send its spans, if the environment says where to; call it after the last fork.

    Args:
        service: the service's name, unless `OTEL_SERVICE_NAME` has another.
    """
    global _provider, _tracer  # noqa: PLW0603  # of the process, like its log
    if not _is_asked_for():
        return
    # Imported here: it takes a tenth of a second and few servers need it.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    name = os.environ.get("OTEL_SERVICE_NAME", service)
    _provider = TracerProvider(resource=Resource.create({"service.name": name, "service.version": VERSION}))
    seconds = float(os.environ.get("OTEL_EXPORTER_OTLP_TIMEOUT", SECONDS))
    _provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=seconds)))
    _tracer = _provider.get_tracer("vocboard")


def flush() -> None:
    """Send what is left, before the process ends."""
    if _provider is not None:
        _provider.force_flush()


@contextmanager
def span(name: str, attributes: Mapping[str, str], *, is_server: bool = False) -> Iterator["Span | None"]:
    """Record the block as a span, for which an error of the block is one; give None if nothing is recorded."""
    if _tracer is None:
        yield None
        return
    from opentelemetry.trace import SpanKind, Status, StatusCode  # noqa: PLC0415

    with _tracer.start_as_current_span(
        name,
        kind=SpanKind.SERVER if is_server else SpanKind.INTERNAL,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield current
        except BaseException as error:
            current.set_status(Status(StatusCode.ERROR))
            current.set_attribute("error.type", type(error).__name__)
            raise


def follow(engine: Engine) -> None:
    """Record the statements of an engine in the spans in which they are executed, if spans are sent.

    The environment must say so by now.
    """
    if not _is_asked_for():  # listeners would take time with each statement
        return
    event.listen(engine, "before_cursor_execute", _begin)
    event.listen(engine, "after_cursor_execute", _end)


def _is_asked_for() -> bool:
    return any(os.environ.get(name) for name in VARIABLES)


def _begin(connection: Connection, *_statement: Any) -> None:
    if _tracer is not None:
        connection.info[_STARTED] = time.time_ns()


def _end(connection: Connection, _cursor: Any, statement: str, *_given: Any) -> None:
    started = connection.info.pop(_STARTED, None)
    if _tracer is None or started is None:
        return
    from opentelemetry.trace import get_current_span  # noqa: PLC0415

    if get_current_span().is_recording():
        verb = statement.split(maxsplit=1)[0].upper()
        attributes = {"db.system.name": connection.dialect.name, "db.query.text": statement}
        _tracer.start_span(verb, attributes=attributes, start_time=started).end()
