"""Spans reach a collector of OpenTelemetry, with ids and without secrets."""

import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.jobs import process
from tests.support.site import Site
from vocboard.app import tracing
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.worker.work import work_next

SECRETS = (b"secret-of-a-link", b"nobody@lab.example", b"a-wrong-password")


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Give what a collector receives from this process."""
    bodies: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_given: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        with configured(monkeypatch):
            yield bodies
        server.shutdown()


@contextmanager
def configured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process send its spans during the block."""
    monkeypatch.setattr(tracing, "_provider", None)
    monkeypatch.setattr(tracing, "_tracer", None)
    tracing.configure("vocboard-test")
    assert tracing._provider is not None
    yield
    tracing._provider.shutdown()


# The collector first: a site's database is followed if there is one when it is opened.
def test_a_request_and_a_job_are_spans_with_those_of_their_statements(
    received: list[bytes], embedded_site: Site
) -> None:
    with embedded_site.client() as client:
        answer = client.get("/challenges/nothing?token=secret-of-a-link")
        client.get("/team-invitations/secret-of-a-link")
        client.get("/api/v1/challenges/nothing")
        client.get("/healthz")
        client.post("/sign-in", data={"email": "nobody@lab.example", "password": "a-wrong-password"})
    key = uuid.uuid4()
    with embedded_site.writing() as session:
        jobs.add(session, Kind.FREEZE, key)
    worker = process(embedded_site.database, None, embedded_site.settings, Kind.FREEZE)
    assert work_next(worker)
    tracing.flush()
    whole = b"".join(received)
    assert not [secret for secret in SECRETS if secret in whole]
    spans = [span for body in received for span in spans_of(body)]
    page = spans[[span.name for span in spans].index("GET /challenges/{slug}")]
    assert attributes(page)["vocboard.request"] == answer.headers["X-Request-Id"]
    assert attributes(page)["http.response.status_code"] == "404"
    assert "GET /api/v1/challenges/{slug}" in [span.name for span in spans]
    job = spans[[span.name for span in spans].index("freeze")]
    assert attributes(job)["vocboard.key"] == str(key)
    for parent in (page, job):
        statements = [span for span in spans if span.parent_span_id == parent.span_id]
        assert statements
        assert "SELECT" in {attributes(span)["db.query.text"].split()[0] for span in statements}
        assert {span.trace_id for span in statements} == {parent.trace_id}
    assert not [span for span in spans if "health" in str(span)]


def test_a_collector_that_does_not_answer_costs_spans_alone(
    embedded_site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
    with socket.create_server(("127.0.0.1", 0)) as silent, embedded_site.client() as client:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with configured(monkeypatch):
            assert client.get("/challenges/nothing").status_code == 404
            tracing.flush()
    assert "Failed to export spans" in caplog.text


def spans_of(body: bytes) -> list[Span]:
    """Return the spans of a request to the collector, which are all this service's."""
    parts = ExportTraceServiceRequest.FromString(body).resource_spans
    assert all('"vocboard-test"' in str(part.resource) for part in parts)
    return [span for part in parts for scope in part.scope_spans for span in scope.spans]


def attributes(span: Span) -> dict[str, str]:
    """Return the attributes of a span, as text."""
    return {one.key: one.value.string_value or str(one.value.int_value) for one in span.attributes}
