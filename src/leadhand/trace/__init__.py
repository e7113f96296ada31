"""Views of a run, folded from its events: history, page, document, log, OpenTelemetry."""
