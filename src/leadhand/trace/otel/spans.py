"""A listener that makes spans of runs from their events, so that concurrency cannot confuse
them. It keeps only open spans."""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar

from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import INVALID_TRACE_ID, TracerProvider

from leadhand.contracts import events
from leadhand.trace.otel.attributes import ContentFilter
from leadhand.trace.otel.tree import SpanTree

_trace_id: ContextVar[int] = ContextVar("_trace_id", default=INVALID_TRACE_ID)
"""The trace id of the run whose first span is being made."""


class RunIds(RandomIdGenerator):
    """Derives a run's trace id from its run id, so that a resumed run continues its trace: the
    `id_generator` of the program's own `TracerProvider`."""

    def generate_trace_id(self) -> int:
        return _trace_id.get() or super().generate_trace_id()


class Spans(AbstractContextManager["Spans"]):
    """Makes spans of any number of runs, which may be concurrent. As a context manager it ends
    spans that are still open, as of a run without a last event."""

    def __init__(
        self,
        tracer_provider: TracerProvider,
        *,
        content: bool = False,
        redact: Callable[[str], str] = str,
    ) -> None:
        """`content`: export requests, answers, messages, arguments and outputs, after `redact`."""
        self._tracer = tracer_provider.get_tracer("leadhand")
        self._content = ContentFilter(content, redact)
        self._trees: dict[str, SpanTree] = {}

    def __call__(self, event: events.Event) -> None:
        if isinstance(event, events.RunStarted | events.RunResumed) and not event.within:
            self._begin(event)
            return
        tree = self._trees.get(event.run_id)
        if tree is None:
            return  # the run has ended, or its start was not seen
        tree.add(event)
        if isinstance(event, events.RunFinished | events.RunWaiting) and not event.within:
            del self._trees[event.run_id]

    def __exit__(self, *_: object) -> None:
        """End open spans, each run's at the time of its last event."""
        for tree in self._trees.values():
            tree.close()
        self._trees.clear()

    def _begin(self, event: events.RunStarted | events.RunResumed) -> None:
        before = self._trees.pop(event.run_id, None)
        if before is not None:
            before.close()
        digest = hashlib.sha256(event.run_id.encode()).digest()
        token = _trace_id.set(int.from_bytes(digest[:16]))
        try:
            self._trees[event.run_id] = SpanTree(self._tracer, event, content=self._content)
        finally:
            _trace_id.reset(token)
