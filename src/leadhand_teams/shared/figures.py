"""Draws figures as inline SVG: lines, bars, a band and a graph. Pure.

A figure has a title and a text alternative, axes with round ticks, and no more colours than it
needs; it follows the page's light or dark colours, prints in black on white, and is escaped.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from leadhand.tools.files import cleaned
from leadhand_teams.shared.values import number_text

WIDTH: Final = 720
HEIGHT: Final = 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 44, 48
_ROW: Final = 30
_CHAR: Final = 7.8
"""The width of a character, about."""
_MAX_POINTS: Final = 400
"""Points of a line; longer ones are thinned."""
STYLE: Final = Path(__file__).with_name("figure.css").read_text(encoding="utf-8")
"""For the page; a figure that is a file of its own has it inside."""
_DARK: Final = Path(__file__).with_name("figure_dark.css").read_text(encoding="utf-8")

X = float | dt.date


@dataclass(frozen=True, slots=True)
class Series:
    """Values to be drawn in one colour."""

    label: str
    points: Sequence[tuple[X, float]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawn figure."""

    title: str
    alternative: str
    """What it shows, in words, for readers that can't see it."""
    body: str
    height: float = HEIGHT

    def svg(self, style: str = "") -> str:
        """For a page that has `STYLE`."""
        return (
            f'<svg class="figure" xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="0 0 {WIDTH} {self.height:g}"><title>{_text(self.title)}</title>'
            f"<desc>{_text(self.alternative)}</desc>{style}"
            f"{_label(8, 22, _cut(self.title, WIDTH * 0.62), style='title')}{self.body}</svg>"
        )

    @property
    def file(self) -> str:
        """For a file of its own."""
        return self.svg(f"<style>{STYLE}{_DARK}</style>")


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    alternative: str,
    x_label: str = "",
    y_label: str = "",
    band: Sequence[tuple[X, float | None, float | None]] = (),
) -> Drawing:
    """Lines over numbers or dates; `band` is an area between values, or beside one, at places."""
    lines = [[one for one in each.points if math.isfinite(one[1])] for each in series]
    places = [x for line in lines for x, _ in line]
    xs = [_number(x) for x in (*places, *(x for x, _, _ in band))]
    ends = [end for _, low, high in band for end in (low, high) if end is not None]
    if len(ends) < 2 * len(band):
        ends += [end * factor for end in ends for factor in (0.9, 1.1)]  # to be seen beside it
    ys = [y for line in lines for _, y in line] + ends
    if not places:
        return Drawing(title, alternative, _label(WIDTH / 2, 160, "No data", "middle"))
    x_low, x_high, y_ticks = min(xs), max(xs), ticks(min(ys), max(ys))
    if isinstance(places[0], dt.date):
        x_ticks = _date_ticks(x_low, x_high)
    else:
        x_ticks = [(value, _short(value)) for value in ticks(x_low, x_high)]
        x_low, x_high = x_ticks[0][0], x_ticks[-1][0]
    x_at = _scale(x_low, x_high, _LEFT, WIDTH - _RIGHT)
    y_at = _scale(y_ticks[0], y_ticks[-1], HEIGHT - _BOTTOM, _TOP + 14)

    def path(points: Iterable[tuple[X, float]]) -> str:
        return " ".join(f"{x_at(_number(x)):.1f},{y_at(y):.1f}" for x, y in points)

    parts = [
        _axes([(x_at(x), text) for x, text in x_ticks], [(y_at(y), _short(y)) for y in y_ticks]),
        _label((WIDTH + _LEFT) / 2, HEIGHT - 8, x_label, "middle", "faint"),
        _label(8, _TOP - 2, y_label, "start", "faint"),
    ]
    if band:
        edge = [(x, y_ticks[-1] if high is None else high) for x, _, high in band]
        edge += [(x, y_ticks[0] if low is None else low) for x, low, _ in reversed(band)]
        parts.append(_tag("polygon", "s0 band", points=path(edge)))
    for n, line in enumerate(lines):
        thinned = line[:: max(1, len(line) // _MAX_POINTS)]
        parts.append(_tag("polyline", f"s{min(n, 4)} line", points=path(thinned)))
    if len(series) > 1:
        parts.append(_legend([one.label for one in series]))
    return Drawing(title, alternative, "".join(parts))


def bars(
    title: str, rows: Sequence[tuple[str, float]], *, alternative: str, unit: str | None = None
) -> Drawing:
    """Horizontal bars from zero, with values, at most 40; one without a label has another shade."""
    shown = [(label, value) for label, value in rows[:40] if math.isfinite(value)]
    texts = [f"{number_text(value)}{f' {unit}' if unit else ''}" for _, value in shown]
    name_width = min(220.0, 12 + _CHAR * max((len(label) for label, _ in shown), default=1))
    value_width = 10 + _CHAR * max(map(len, texts), default=1)
    low = min([0.0, *(value for _, value in shown)])
    high = max([0.0, *(value for _, value in shown)]) or (0.0 if low else 1.0)
    left = name_width + (value_width if low < 0 else 0)
    scale = (WIDTH - left - value_width) / ((high - low) or 1)
    zero = left - low * scale
    parts: list[str] = []
    for n, ((label, value), text) in enumerate(zip(shown, texts, strict=True)):
        y, end = _TOP + n * _ROW - 8 * (not label), zero + value * scale
        side, anchor = (6, "start") if value >= 0 else (-6, "end")
        x, width = min(zero, end), max(abs(end - zero), 1.0)
        parts += [
            _tag("rect", f"s{int(not label)} bar", x=x, y=y, width=width, height=18, rx=2),
            _label(name_width - 8, y + 14, _cut(label, name_width), "end"),
            _label(end + side, y + 14, text, anchor),
        ]
    height = _TOP + len(shown) * _ROW + 12
    parts.append(_tag("line", "axis", x1=zero, x2=zero, y1=_TOP - 6, y2=height - 14))
    return Drawing(title, alternative, "".join(parts), height)


def graph(
    title: str,
    nodes: Mapping[str, str],
    edges: Sequence[tuple[str, str]],
    *,
    alternative: str,
    marked: frozenset[tuple[str, str]] = frozenset(),
) -> Drawing:
    """Boxes in columns, each right of those that point to it; for at most about 60 nodes.

    `nodes` has the label of each id; `marked` edges are dashed.
    """
    level = _levels(list(nodes), edges)
    known = [edge for edge in edges if level.keys() >= set(edge)]
    stops = {*level.items()}  # boxes, and where an edge passes a column
    stops |= {(before, n) for before, after in known for n in range(level[before], level[after])}
    columns = [[one for one in nodes if (one, n) in stops] for n in sorted({*level.values()})]
    step = (WIDTH - 16) / max(len(columns), 1)
    width = min(170.0, step - 22)
    height = _TOP + max(map(len, columns), default=1) * 46 + 8
    place, parts = dict[tuple[str, int], tuple[float, float]](), list[str]()
    for n, column in enumerate(columns):
        gap = (height - _TOP) / (len(column) + 1)
        place |= {(one, n): (8 + n * step, _TOP + gap * row) for row, one in enumerate(column, 1)}
    for before, after in known:
        passed = [(before, n) for n in range(level[before] + 1, level[after])]
        way = [place[one] for one in ((before, level[before]), *passed, (after, level[after]))]
        points = " ".join(f"{x + by:.1f},{y:.1f}" for x, y in way for by in (0, width))
        colour = "s1" if (before, after) in marked else "s4"
        parts.append(_tag("polyline", f"{colour} edge", points=points))
        parts.append(_tag("circle", "dot s4", cx=way[-1][0], cy=way[-1][1], r=2.5))
    for node, label in nodes.items():
        x, y = place[node, level[node]]
        parts.append(_tag("rect", "s0 box", x=x, y=y - 15, width=width, height=30, rx=4))
        parts.append(_label(x + width / 2, y + 4, _cut(label, width), "middle"))
    return Drawing(title, alternative, "".join(parts), height)


def ticks(low: float, high: float, *, count: int = 5) -> list[float]:
    """Round values from at or below `low` to at or above `high`, about `count` of them."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return [0.0, 1.0]
    if high <= low:
        margin = abs(low) * 0.1 or 1.0
        low, high = low - margin, high + margin
    raw = (high - low) / max(count - 1, 1)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * n for n in (1, 2, 2.5, 5, 10) if size * n >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [round(n * step, 12) for n in range(first, last + 1)]


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """What places values from `low` to `high` between `start` and `end`."""
    return lambda value: start + (value - low) / ((high - low) or 1) * (end - start)


def _axes(x_ticks: Iterable[tuple[float, str]], y_ticks: Iterable[tuple[float, str]]) -> str:
    bottom, right, parts = HEIGHT - _BOTTOM, WIDTH - _RIGHT, list[str]()
    for y, text in y_ticks:
        parts.append(_tag("line", "grid", x1=_LEFT, x2=right, y1=y, y2=y))
        parts.append(_label(_LEFT - 8, y + 4, text, "end", "faint"))
    parts += [_label(x, bottom + 18, text, "middle", "faint") for x, text in x_ticks]
    return "".join((*parts, _tag("line", "axis", x1=_LEFT, x2=right, y1=bottom, y2=bottom)))


def _legend(labels: Sequence[str]) -> str:
    parts, right = list[str](), float(WIDTH - _RIGHT)
    for n in reversed(range(min(len(labels), 5))):
        label = _cut(labels[n], 150)
        right -= _CHAR * len(label)
        parts.append(_label(right, 22, label, "start", "faint"))
        parts.append(_tag("line", f"s{n} line", x1=right - 26, x2=right - 6, y1=18, y2=18))
        right -= 40
    return "".join(parts)


def _date_ticks(low: float, high: float) -> list[tuple[float, str]]:
    first, last = dt.date.fromordinal(int(low)), dt.date.fromordinal(int(high))
    months = (last.year - first.year) * 12 + last.month - first.month
    if months < 3:
        step = max(1, (int(high) - int(low)) // 5)
        days = [dt.date.fromordinal(n) for n in range(int(low), int(high) + 1, step)]
        return [(float(day.toordinal()), f"{day.day} {day:%b}") for day in days]
    step = next((n for n in (1, 2, 3, 6, 12, 24, 60, 120) if months / n <= 8), 240)
    found: list[tuple[float, str]] = []
    for n in range(first.year * 12 + first.month - 1, last.year * 12 + last.month):
        day = dt.date(n // 12, n % 12 + 1, 1)
        if n % step == 0 and low <= day.toordinal() <= high:
            found.append((day.toordinal(), f"{day.year}" if step >= 12 else f"{day:%b %Y}"))
    return found or [(low, first.isoformat())]


def _short(value: float) -> str:
    for size, mark in ((1e9, "bn"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if mark == 'k' else size):,.6g}{mark}"
    return f"{value:,.6g}"


def _levels(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The column of each node; those of a circle stand as far right as there are nodes."""
    level = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for before, after in edges:
            if before in level and after in level and level[before] < len(nodes):
                level[after] = max(level[after], level[before] + 1)
    order = {value: n for n, value in enumerate(sorted(set(level.values())))}
    return {node: order[value] for node, value in level.items()}


def _number(value: X) -> float:
    return float(value.toordinal()) if isinstance(value, dt.date) else float(value)


def _label(x: float, y: float, text: str, anchor: str = "start", style: str = "") -> str:
    return _tag("text", style, _text(text), x=x, y=y, text_anchor=anchor) if text else ""


def _tag(name: str, style: str, content: str = "", **attributes: str | float) -> str:
    """An element; `content` is markup, and numbers have one digit after the point."""
    named = {key: one if isinstance(one, str) else f"{one:.1f}" for key, one in attributes.items()}
    named |= {"class": style} if style else {}
    marks = "".join(f' {key.replace("_", "-")}="{one}"' for key, one in named.items())
    return f"<{name}{marks}>{content}</{name}>"


def _cut(text: str, width: float) -> str:
    most = max(4, int((width - 12) / _CHAR))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(text: str) -> str:
    return escape(cleaned(text))
