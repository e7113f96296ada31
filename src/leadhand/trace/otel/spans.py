"""A listener that makes spans of runs: from their events alone, so that parents and times are right
however much goes on at once.

It decides nothing, keeps only what is open, and exports nothing itself: that is the provider's.
"""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import TracebackType

from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import INVALID_TRACE_ID, TracerProvider

from leadhand.contracts import events
from leadhand.trace.otel.attributes import ContentFilter
from leadhand.trace.otel.tree import SpanTree

_trace_id: ContextVar[int] = ContextVar("_trace_id", default=INVALID_TRACE_ID)
"""Of the run whose first span is being made."""


class RunIds(RandomIdGenerator):
    """Gives a run the same trace id each time, so that a resumed run goes on in its own trace.

    To be handed to the program's own `TracerProvider` as its `id_generator`.
    """

    def generate_trace_id(self) -> int:
        """That of the run whose first span is being made; any other trace has a random one."""
        return _trace_id.get() or super().generate_trace_id()


class Spans(AbstractContextManager["Spans"]):
    """Hands a provider the spans of any number of runs, at once or one after the other.

    As a context manager it ends in the end what is still open: of a run that was given up because
    its plan was refused, say, which has no last event.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider,
        *,
        content: bool = False,
        redact: Callable[[str], str] = str,
    ) -> None:
        """`content`: whether requests, answers, messages, tools' arguments and what they gave are
        exported as well; each text goes through `redact` before."""
        self._tracer = tracer_provider.get_tracer("leadhand")
        self._content = ContentFilter(content, redact)
        self._trees: dict[str, SpanTree] = {}

    def __call__(self, event: events.Event) -> None:
        """Begin, end or add to the spans that an event is about."""
        if isinstance(event, events.RunStarted | events.RunResumed) and not event.within:
            self._begin(event)
            return
        tree = self._trees.get(event.run_id)
        if tree is None:
            return  # a run that ended before, or whose beginning was not seen
        tree.add(event)
        if isinstance(event, events.RunFinished) and not event.within:
            del self._trees[event.run_id]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End what is still open, each run at the time of its last event."""
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
