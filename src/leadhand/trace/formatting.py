"""Formats durations, prices and usage, the same in every view of a run. Pure."""

from leadhand.contracts.answer import Metrics
from leadhand.contracts.outcome import Usage


def format_duration(taken_s: float) -> str:
    """`3 ms`, `2.1 s`, `4 min 9 s`, `2 h 5 min`."""
    if taken_s < 1:
        return f"{1000 * taken_s:.0f} ms"
    if taken_s < 60:
        return f"{taken_s:.1f} s"
    minutes, seconds = divmod(round(taken_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


def format_speedup(metrics: Metrics, sign: str = "x") -> str:
    """The speed-up: `4.2x`; `at most 3.0x` if it is not known; a range of an older release."""
    low, high = metrics.speedup, metrics.speedup_high
    if low is None:
        return f"at most {high or 0.0:.1f}{sign}"
    return f"{low:.1f}{sign}" if high is None else f"{low:.1f}{sign} to {high:.1f}{sign}"


def format_gain(metrics: Metrics) -> str:
    """The gain by concurrency, in a few words; empty if it is below 5 %."""
    if max(metrics.speedup or 0.0, metrics.speedup_high or 0.0) < 1.05:
        return ""
    exact = metrics.speedup_high is None
    took = f" ({format_duration(metrics.sequential_s)})" if exact else ""
    return f"{format_speedup(metrics)} as fast as one by one{took}"


def format_price(usd: float | None) -> str:
    """`None` is unknown, not zero."""
    if usd is None:
        return "cost unknown"
    if 0 < usd < 0.0001:
        return "under $0.0001"
    return f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"


def format_usage(usage: Usage) -> str:
    asked = f"{usage.requests:,} request{'' if usage.requests == 1 else 's'}"
    tokens = f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    return f"{asked}, {tokens}, {format_price(usage.cost_usd)}"
