"""Export of spans to the collector that the environment names, for programs such as the CLI. It
never delays the answer: a failed export costs one line."""

import contextlib
import importlib.util
import logging
import os
import re
import threading
from collections.abc import Callable, Generator
from importlib.metadata import version
from typing import TYPE_CHECKING

from leadhand.engine.recorder import Listener

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

FLUSH_S = 2.0
"""How long sending the last spans may take by default."""
QUEUE = 65_536
"""Spans that can wait to be sent; further ones are lost."""

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_SECRET_PARTS = re.compile(r"(?<=//).*@|^(?!.*//).*@|[?#].*", re.DOTALL)
"""In an endpoint: everything up to the last @, escaped or not, and the query."""
_NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


@contextlib.contextmanager
def spans_from_environment(
    *, warn: Callable[[str], object], redact: Callable[[str], str] = str, flush_s: float = FLUSH_S
) -> Generator[Listener | None]:
    """A listener whose spans go to the collector that the environment names, or `None`.

    Sending the last spans takes `flush_s` at most. `warn` gets a line if it fails. `redact` removes
    secrets from it and from content, which is exported only if
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says so.
    """
    endpoint = _endpoint()
    if endpoint is None:
        yield None
        return

    def tell(line: str) -> None:
        warn(redact(line))

    with _Complaints() as complaints:
        provider = _provider(endpoint, tell)
        if provider is None:
            yield None
            return
        from leadhand.trace.otel.spans import Spans

        content = _said(_CONTENT).lower() in ("true", "span_only", "span_and_event")
        try:
            with Spans(provider, content=content, redact=redact) as listener:
                yield listener
        finally:
            sent = _flushed(provider, flush_s)
            complaints.stay = not sent
            why = complaints.lost if sent else f"they were not taken within {flush_s:g} s"
            if why is not None:
                tell(f"not all spans reached {endpoint}: {why}")


def _endpoint() -> str | None:
    """The endpoint without password and query, so that it can be shown."""
    if _said("OTEL_SDK_DISABLED").lower() == "true" or _said("OTEL_TRACES_EXPORTER") == "none":
        return None
    found = next((found for name in _ENDPOINTS if (found := _said(name))), None)
    return None if found is None else _SECRET_PARTS.sub("", found)


def _said(variable: str) -> str:
    return os.environ.get(variable, "").strip()


def _provider(endpoint: str, warn: Callable[[str], object]) -> "TracerProvider | None":
    """`None`, after a warning, if there can be none."""
    protocol = next((found for name in _PROTOCOLS if (found := _said(name))), "")
    if protocol not in ("", "http/protobuf"):
        warn(f"no spans are sent to {endpoint}: leadhand speaks http/protobuf, not {protocol}")
        return None
    if not all(_installed(name) for name in _NEEDED):
        warn(f"no spans are sent to {endpoint}: install the extra: pip install 'leadhand[otel]'")
        return None
    try:
        return _made()
    except Exception as error:  # a bad setting must not fail the run
        said = " ".join(str(error).split())
        warn(f"no spans are sent to {endpoint}: {said or type(error).__name__}")
        return None


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _made() -> "TracerProvider":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from leadhand.trace.otel.spans import RunIds

    resource = Resource.create({SERVICE_VERSION: version("leadhand")})
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "leadhand"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=RunIds())
    queue = None if _said("OTEL_BSP_MAX_QUEUE_SIZE") else QUEUE
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), max_queue_size=queue))
    return provider


def _flushed(provider: "TracerProvider", limit_s: float) -> bool:
    """The SDK's own flush has no time limit."""
    work = threading.Thread(target=provider.shutdown, name="leadhand-spans", daemon=True)
    work.start()
    work.join(limit_s)
    return not work.is_alive()


class _Complaints(logging.Handler):
    """Collects what the SDK logs about lost spans, instead of printing it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lost: str | None = None
        """Why spans were lost, from the first complaint."""
        self.stay = False
        """Whether to stay after the block, because a thread may still log."""
        self._logger = logging.getLogger("opentelemetry")

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.levelno >= logging.ERROR or message.startswith("Queue full"):
            self.lost = self.lost or " ".join(message.split())

    def __enter__(self) -> "_Complaints":
        self._propagated = self._logger.propagate
        self._logger.propagate = False
        self._logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        if not self.stay:
            self._logger.removeHandler(self)
            self._logger.propagate = self._propagated
