"""Draws the comparison with peers: bars from zero, less is better, an SVG that needs nothing else.

Wall time is shown where the model takes its time to answer, as models do; CPU time where it does
not, so that nothing hides behind the waiting. A thin line across a bar's end is the spread of the
rounds. Light or dark as the reader's system is, on a ground of its own. Pure.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from benchmarks.peer_results import Measure, Results, Spread, spread
from benchmarks.peer_targets import LANGGRAPH, PLAIN, SAME_TRANSPORT, TYPED

SIZES = (100, 1_000)
WHO = (
    (SAME_TRANSPORT, "OpenAI SDK, asyncio", "other"),
    (PLAIN, "leadhand", "ours"),
    (TYPED, "leadhand, typed answers", "ours"),
    (LANGGRAPH, "LangGraph, Send graph", "other"),
)
_WIDTH, _PANEL = 900, 450
_TOP, _PANEL_HEIGHT = 74, 176
_LEFT, _PLOT = 190, 190
_ROW, _BAR = 28, 16
_STYLE = """
  .ground { fill: #ffffff; } text { fill: #1f2328; font: 13px system-ui, sans-serif; }
  .title { font-size: 17px; font-weight: 600; } .head { font-weight: 600; }
  .faint { fill: #59636e; font-size: 12px; } .grid { stroke: #d1d9e0; } .axis { stroke: #59636e; }
  .ours { fill: #0969da; } .other { fill: #8c959f; } .spread { stroke: #1f2328; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; } text { fill: #f0f6fc; } .faint { fill: #9198a1; }
    .grid { stroke: #3d444d; } .axis { stroke: #9198a1; }
    .ours { fill: #4493f8; } .other { fill: #656c76; } .spread { stroke: #f0f6fc; }
  }
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One figure."""

    label: str
    kind: str
    value: Spread


@dataclass(frozen=True, slots=True)
class Panel:
    """Bars on one axis, which starts at zero."""

    head: str
    bars: Sequence[Bar]
    most: float
    """What the axis has to hold."""


def drawn(results: Results) -> str:
    """The chart of what was measured, as SVG."""
    panels = list(_panels(results))
    rows = (len(panels) + 1) // 2
    height = _TOP + rows * _PANEL_HEIGHT + 30
    title = "One planner, N workers, one synthesizer: what the framework costs"
    note = f"{results.machine}. " + _versions(results) + "."
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img">',
        f"<title>{escape(_told(panels))}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{height}" rx="6"/>',
        _text(20, 30, title, "title"),
        _text(
            20,
            50,
            f"Less is better. Medians of {results.rounds} rounds, and their spread.",
            "faint",
        ),
    ]
    for number, panel in enumerate(panels):
        left, top = number % 2 * _PANEL, _TOP + number // 2 * _PANEL_HEIGHT
        parts += [f'<g transform="translate({left} {top})">', *_panel(panel), "</g>"]
    parts += [_text(20, height - 12, note, "faint"), "</svg>"]
    return "\n".join(parts) + "\n"


def _versions(results: Results) -> str:
    named = ", ".join(results.versions.values()).split(", ")
    return ", ".join(dict.fromkeys(named))


def _panels(results: Results) -> Iterator[Panel]:
    """CPU on the left, on one axis for all sizes; wall time on the right, on one for each."""
    cpu = {n: _bars(results, n, 0, lambda sample: sample.cpu_ms_a_task) for n in SIZES}
    most_cpu = max((bar.value.most for bars in cpu.values() for bar in bars), default=0.0)
    for n in SIZES:
        wall = _bars(results, n, 100, lambda sample: sample.wall_s)
        if cpu[n] and wall:
            size = f"N = {n:,}"
            yield Panel(f"{size}: CPU ms a task, model answers at once", cpu[n], most_cpu)
            most_wall = max(bar.value.most for bar in wall)
            yield Panel(f"{size}: wall time in s, model takes 100 ms", wall, most_wall)


def _bars(results: Results, tasks: int, latency_ms: int, measure: Measure) -> list[Bar]:
    rows = ((results.row(variant, tasks, latency_ms), label, kind) for variant, label, kind in WHO)
    return [Bar(label, kind, spread(row, measure)) for row, label, kind in rows if row is not None]


def _panel(panel: Panel) -> Iterator[str]:
    step = tick(panel.most)
    count = max(math.ceil(panel.most / step), 1)
    scale = _PLOT / (count * step)
    bottom = 24 + len(panel.bars) * _ROW
    yield _text(20, 14, panel.head, "head")
    for number in range(count + 1):
        x = _LEFT + number * step * scale
        kind = "grid" if number else "axis"
        yield f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="24" y2="{bottom}"/>'
        yield _text(x, bottom + 15, f"{number * step:g}", "faint", anchor="middle")
    for number, bar in enumerate(panel.bars):
        yield from _bar(bar, 24 + number * _ROW + (_ROW - _BAR) / 2, scale)


def _bar(bar: Bar, y: float, scale: float) -> Iterator[str]:
    got = bar.value
    middle = y + _BAR / 2
    width, least, most = (scale * value for value in (got.median, got.least, got.most))
    yield _text(_LEFT - 8, middle + 4, bar.label, anchor="end")
    yield (
        f'<rect class="{bar.kind}" x="{_LEFT}" y="{y:.1f}" width="{width:.1f}" height="{_BAR}"/>'
    )
    ends = f'x1="{_LEFT + least:.1f}" x2="{_LEFT + most:.1f}"'
    yield f'<line class="spread" {ends} y1="{middle:.1f}" y2="{middle:.1f}"/>'
    yield _text(_LEFT + max(width, most) + 6, middle + 4, _figure(got.median))


def tick(most: float) -> float:
    """The distance of an axis's ticks: 1, 2 or 5 times a power of ten, at most five of them."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most / 5))
    return next(power * times for times in (1, 2, 5, 10) if power * times * 5 >= most)


def _told(panels: Sequence[Panel]) -> str:
    """The same in words, for those who don't see it."""
    return ". ".join(
        f"{panel.head}: "
        + ", ".join(f"{bar.label} {_figure(bar.value.median)}" for bar in panel.bars)
        for panel in panels
    )


def _figure(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _text(x: float, y: float, text: str, kind: str = "", *, anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
