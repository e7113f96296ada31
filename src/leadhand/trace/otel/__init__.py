"""OpenTelemetry: a run as spans, by the conventions for generative AI. Needs the extra `otel`.

    with spans_from_environment(warn=print) as listener:        # where OTEL_EXPORTER_OTLP_... says
        answer = await supervisor.run(request, listener=listener)

    with Spans(tracer_provider) as listener:                    # or a provider of the program's own
        answer = await supervisor.run(request, listener=listener)

Names resolve on first use: importing this does not import OpenTelemetry.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.trace.otel.export import spans_from_environment as spans_from_environment
    from leadhand.trace.otel.spans import RunIds as RunIds
    from leadhand.trace.otel.spans import Spans as Spans
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(__name__)
