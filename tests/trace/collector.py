"""An OTLP/HTTP receiver on loopback that keeps what it is sent, and spans as tests read them."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from leadhand.trace.otel import RunIds

PATH = "/v1/traces"


@dataclass(frozen=True, slots=True)
class Note:
    """A span's event."""

    name: str
    attributes: dict[str, object]


@dataclass(frozen=True, slots=True)
class Received:
    """A span as it came over the wire."""

    name: str
    trace_id: str
    id: str
    parent_id: str
    kind: int
    start_ns: int
    end_ns: int
    attributes: dict[str, object]
    notes: tuple[Note, ...]
    links: tuple[str, ...]
    failed: bool
    said: str

    @property
    def error(self) -> object:
        """What kind of error it ended with."""
        return self.attributes.get("error.type")


class Collector:
    """Takes spans at `endpoint`, answering with `status`."""

    def __init__(self, status: int = 200) -> None:
        self.bodies: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                collector.bodies.append(self.rfile.read(length))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.base = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Collector":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def provider(self) -> TracerProvider:
        """A provider whose spans come here, as a program would set one up."""
        provider = TracerProvider(shutdown_on_exit=False, id_generator=RunIds())
        exporter = OTLPSpanExporter(endpoint=f"{self.base}{PATH}", timeout=600)
        provider.add_span_processor(BatchSpanProcessor(exporter))
        return provider

    @property
    def resource(self) -> dict[str, object]:
        """Of the spans that came first."""
        return _attributes(_parsed(self.bodies[0]).resource_spans[0].resource.attributes)

    @property
    def spans(self) -> list[Received]:
        """All that came, by their starts."""
        found = [
            _received(span)
            for body in self.bodies
            for of_resource in _parsed(body).resource_spans
            for of_scope in of_resource.scope_spans
            for span in of_scope.spans
        ]
        return sorted(found, key=lambda span: span.start_ns)


def _parsed(body: bytes) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    request.ParseFromString(body)
    return request


def _received(span: Span) -> Received:
    return Received(
        name=span.name,
        trace_id=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        kind=span.kind,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        attributes=_attributes(span.attributes),
        notes=tuple(Note(note.name, _attributes(note.attributes)) for note in span.events),
        links=tuple(link.span_id.hex() for link in span.links),
        failed=span.status.code == Status.STATUS_CODE_ERROR,
        said=span.status.message,
    )


def _attributes(pairs: Sequence[KeyValue]) -> dict[str, object]:
    found: dict[str, object] = {}
    for pair in pairs:
        kind = pair.value.WhichOneof("value")
        value: object = getattr(pair.value, kind or "string_value")
        if kind == "array_value":
            value = [one.string_value for one in pair.value.array_value.values]
        found[pair.key] = value
    return found


class Tree:
    """The spans of one trace, by what is in what."""

    def __init__(self, spans: Sequence[Received]) -> None:
        self.spans = spans
        self._by_id = {span.id: span for span in spans}

    @property
    def root(self) -> Received:
        """The only span without a parent."""
        (root,) = [span for span in self.spans if not span.parent_id]
        return root

    def one(self, name: str, **having: object) -> Received:
        """The only span of that name and with these attributes of leadhand's."""
        (span,) = self.named(name, **having)
        return span

    def named(self, name: str, **having: object) -> list[Received]:
        """The spans of that name and with these attributes, `task_id` for `leadhand.task.id`."""
        wanted = {f"leadhand.{key.replace('_', '.')}": value for key, value in having.items()}
        return [
            span
            for span in self.spans
            if span.name == name and wanted.items() <= span.attributes.items()
        ]

    def way(self, span: Received) -> list[str]:
        """The names from the root to `span`."""
        names = [span.name]
        while span.parent_id:
            span = self._by_id[span.parent_id]
            names.append(span.name)
        return names[::-1]

    def strays(self) -> list[str]:
        """Spans that are not within their parents' time."""
        return [
            " > ".join(self.way(span))
            for span in self.spans
            if span.parent_id
            and not (
                self._by_id[span.parent_id].start_ns
                <= span.start_ns
                <= span.end_ns
                <= self._by_id[span.parent_id].end_ns
            )
        ]
