"""OpenTelemetry: a run as spans, by the conventions for generative AI. Needs the extra `otel`.

    with spans_from_environment(warn=print) as listener:        # where OTEL_EXPORTER_OTLP_... says
        answer = await supervisor.run(request, listener=listener)

    with Spans(tracer_provider) as listener:                    # or a provider of the program's own
        answer = await supervisor.run(request, listener=listener)

Names resolve on first use: importing this does not import OpenTelemetry.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.trace.otel.export import spans_from_environment
    from leadhand.trace.otel.spans import RunIds, Spans

__all__ = ["RunIds", "Spans", "spans_from_environment"]

_MODULES = {"export": "spans_from_environment", "spans": "RunIds Spans"}

__getattr__ = lazy_attributes(__name__, _MODULES)
