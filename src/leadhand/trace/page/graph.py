"""The graph of a run's tasks as SVG. Tasks with equal dependencies and dependants share a frame."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leadhand.trace.formatting import format_duration
from leadhand.trace.page.layout import Box, layout
from leadhand.trace.page.markup import MARKS, Html, anchor, joined, tag
from leadhand.trace.run_history import RunHistory

MAX_FRAMES = 300
"""A graph with more frames would not be readable, and is not drawn."""
MAX_CHIPS = 120
"""Tasks that a frame shows one by one; of more, it shows counts."""
_CHIP = (128.0, 24.0)
_CARD = (168.0, 44.0)
_GAP = 6.0
_PAD = 8.0
_EDGE = 12.0
_FITS = 1_600.0
"""A drawing of this width is still readable when scaled down to the page."""


@dataclass(frozen=True, slots=True)
class _Frame:
    ids: Sequence[str]
    columns: int

    @property
    def size(self) -> tuple[float, float]:
        if len(self.ids) == 1:
            return _CARD
        if len(self.ids) > MAX_CHIPS:
            return _CARD[0], _CARD[1] + 18
        rows = math.ceil(len(self.ids) / self.columns)
        width = self.columns * (_CHIP[0] + _GAP) - _GAP + 2 * _PAD
        return width, rows * (_CHIP[1] + _GAP) - _GAP + 2 * _PAD


def drawing(history: RunHistory, *, path: str = "") -> Html:
    """The drawing as SVG, or a line of text if there is nothing to draw, or too much."""
    needs = _needs(history)
    if not needs:
        return tag("p", "There is no plan.", class_="quiet")
    frames = _frames(needs)
    if len(frames) > MAX_FRAMES:
        return tag(
            "p", f"A graph of {len(needs):,} tasks is too large to be drawn.", class_="quiet"
        )
    number_of = {id: number for number, frame in enumerate(frames) for id in frame.ids}
    critical = history.critical_path
    steps = set(pairwise(critical))
    edges: dict[tuple[int, int], set[str]] = {}
    for id, needed in needs.items():
        for one in needed:
            kinds = edges.setdefault((number_of[one], number_of[id]), set())
            kinds |= {"critical"} if (one, id) in steps else set()
            kinds |= {"part"} if history.tasks[id].part_of == one else set()
    placed = layout([frame.size for frame in frames], list(edges))
    lines = [
        tag("path", d=_curve(points), class_=" ".join(["edge", *sorted(edges[edge])]))
        for edge, points in placed.edges.items()
    ]
    boxes = [
        joined(*_frame(history, frame, box, set(critical), path))
        for frame, box in zip(frames, placed.boxes, strict=True)
    ]
    width, height = placed.width + 2 * _EDGE, placed.height + 2 * _EDGE
    picture = tag(
        "svg",
        *lines,
        *boxes,
        viewBox=f"{-_EDGE:g} {-_EDGE:g} {width:.0f} {height:.0f}",
        width=round(width),
        height=round(height),
        class_="fits" if width <= _FITS else None,
        role="img",
        aria_label=f"The graph of {len(needs):,} tasks; the list of tasks says the same in words",
    )
    return tag(
        "div", picture, class_="scroll", tabindex="0", role="region", aria_label="Graph of tasks"
    )


def _needs(history: RunHistory) -> dict[str, list[str]]:
    """The dependencies of each task; of a part, the task that was split and other parts."""
    out: dict[str, list[str]] = {}
    for id, task in history.tasks.items():
        needed = [one for one in history.task_state(id).task.depends_on if one in history.tasks]
        if task.part_of is not None:
            fellows = history.tasks[task.part_of].parts
            needed = [task.part_of, *(one for one in needed if one in fellows)]
        out[id] = needed
    return out


def _frames(needs: Mapping[str, Sequence[str]]) -> list[_Frame]:
    users: dict[str, list[str]] = {}
    for id, needed in needs.items():
        for one in needed:
            users.setdefault(one, []).append(id)
    twins: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}
    for id, needed in needs.items():
        key = (frozenset(needed), frozenset(users.get(id, ())))
        twins.setdefault(key, []).append(id)
    return [_Frame(ids, _columns(len(ids))) for ids in twins.values()]


def _columns(count: int) -> int:
    """The number of columns that makes a frame a little higher than wide."""
    return max(1, min(6, math.ceil(math.sqrt(count / 4)) if count > 6 else 1))


def _frame(
    history: RunHistory, frame: _Frame, box: Box, critical: set[str], path: str
) -> Iterator[Html]:
    width, height = frame.size
    x, y = box.x, box.y
    if len(frame.ids) == 1:
        yield _task(history, frame.ids[0], (x, y), critical, path, card=True)
        return
    yield tag("rect", x=x, y=y, width=width, height=height, rx=8, class_="frame")
    if len(frame.ids) <= MAX_CHIPS:
        for number, id in enumerate(frame.ids):
            row, column = divmod(number, frame.columns)
            at_x = x + _PAD + column * (_CHIP[0] + _GAP)
            at_y = y + _PAD + row * (_CHIP[1] + _GAP)
            yield _task(history, id, (at_x, at_y), critical, path, card=False)
        return
    counts = Counter(history.task_status(id) for id in frame.ids).most_common(2)
    yield tag("text", f"{len(frame.ids):,} tasks", x=x + 12, y=y + 18, class_="name")
    for number, (status, count) in enumerate(counts):
        said = f"{count:,} {status.replace('_', ' ')}"
        yield tag("text", said, x=x + 12, y=y + 35 + 16 * number, class_="small")


def _task(
    history: RunHistory,
    id: str,
    corner: tuple[float, float],
    critical: set[str],
    path: str,
    *,
    card: bool,
) -> Html:
    (x, y), (width, height) = corner, _CARD if card else _CHIP
    facts, status = history.task_state(id), history.task_status(id)
    attempts = len(history.tasks[id].attempts)
    again = f" ×{attempts}" if attempts > 1 else ""
    took = format_duration(facts.busy_s) if attempts else status.replace("_", " ")
    kind = f"task {status}{' critical' if id in critical else ''}"
    parts = [
        tag("title", f"{id}: {status.replace('_', ' ')}, {facts.worker}, {took}{again}"),
        tag("rect", x=x, y=y, width=width, height=height, rx=6),
        tag("text", MARKS.get(status, "┄"), x=x + 10, y=y + 17, class_="mark"),
        tag("text", _cut(f"{id}{again}", width - 34), x=x + 26, y=y + 17, class_="name"),
    ]
    if card:
        said = _cut(f"{facts.worker} · {took}", width - 34)
        parts.append(tag("text", said, x=x + 26, y=y + 34, class_="small"))
    return tag("a", tag("g", *parts, class_=kind), href=f"#{anchor(path + id)}")


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """A curve through the points that leaves and enters every box horizontally."""
    (x, y), *rest = points
    drawn = f"M{x:.0f} {y:.0f}"
    for at_x, at_y in rest:
        bend = (at_x - x) / 2
        drawn += f"C{x + bend:.0f} {y:.0f} {at_x - bend:.0f} {at_y:.0f} {at_x:.0f} {at_y:.0f}"
        x, y = at_x, at_y
    return drawn


def _cut(text: str, room: float) -> str:
    """`text` cut to about that many pixels."""
    used = 0.0
    for place, character in enumerate(text):
        used += 12.5 if unicodedata.east_asian_width(character) in "WF" else 6.9
        if used > room:
            return f"{text[: max(place - 1, 1)]}…"
    return text
