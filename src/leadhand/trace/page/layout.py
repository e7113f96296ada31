"""Layout of a graph's boxes and lines, in layers from left to right. Pure geometry.

The method of Sugiyama, Tagawa and Toda (1981): layers by the longest path from a start, waypoints
for edges that skip layers, order within layers by the mean of the neighbours, then the heights.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

LAYER_GAP = 64.0
BOX_GAP = 16.0
WAYPOINT = 12.0
"""The height reserved for an edge that skips a layer."""
MAX_WAYPOINTS = 3_000
_SWEEPS = 6


@dataclass(slots=True)
class Box:
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    layer: int = 0
    before: list[int] = field(default_factory=list[int])
    after: list[int] = field(default_factory=list[int])

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Layout:
    boxes: Sequence[Box]
    edges: Mapping[tuple[int, int], Sequence[tuple[float, float]]]
    """The points of each edge, from the right side of a box to the left side of another."""
    width: float
    height: float


def layout(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """`edges` are index pairs, without cycles."""
    boxes = [Box(width, height) for width, height in sizes]
    _layer(boxes, edges)
    ways = _ways(boxes, edges)
    layers: list[list[int]] = [[] for _ in range(max((box.layer for box in boxes), default=-1) + 1)]
    for number, box in enumerate(boxes):
        layers[box.layer].append(number)
    _order(boxes, layers)
    width = _columns(boxes, layers)
    height = _heights(boxes, layers)
    drawn = {edge: _points(boxes, way) for edge, way in ways.items()}
    return Layout(boxes[: len(sizes)], drawn, width, height)


def _layer(boxes: list[Box], edges: Sequence[tuple[int, int]]) -> None:
    after: dict[int, list[int]] = {}
    waiting = [0] * len(boxes)
    for start, end in edges:
        after.setdefault(start, []).append(end)
        waiting[end] += 1
    ready = [number for number, count in enumerate(waiting) if not count]
    for number in ready:  # grows as it is read
        for end in after.get(number, ()):
            boxes[end].layer = max(boxes[end].layer, boxes[number].layer + 1)
            waiting[end] -= 1
            if not waiting[end]:
                ready.append(end)


def _ways(
    boxes: list[Box], edges: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], Sequence[int]]:
    """The boxes and waypoints of each edge; adds the waypoints to `boxes`."""
    many = sum(boxes[end].layer - boxes[start].layer - 1 for start, end in edges) > MAX_WAYPOINTS
    ways: dict[tuple[int, int], Sequence[int]] = {}
    for start, end in edges:
        way = [start]
        for layer in range(boxes[start].layer + 1, 0 if many else boxes[end].layer):
            boxes.append(Box(0.0, WAYPOINT, layer=layer))
            way.append(len(boxes) - 1)
        way.append(end)
        for one, other in pairwise(way):
            boxes[one].after.append(other)
            boxes[other].before.append(one)
        ways[start, end] = way
    return ways


def _order(boxes: list[Box], layers: list[list[int]]) -> None:
    """Sort each layer by the mean position of the neighbours, so that few lines cross."""
    for sweep in range(_SWEEPS):
        forth = sweep % 2 == 0
        place = {number: at for layer in layers for at, number in enumerate(layer)}
        for layer in layers[1:] if forth else layers[-2::-1]:
            wanted: dict[int, float] = {}
            for number in layer:
                near = boxes[number].before if forth else boxes[number].after
                places = [place[one] for one in near]
                wanted[number] = sum(places) / len(places) if places else place[number]
            layer.sort(key=lambda number: wanted[number])
            place.update({number: at for at, number in enumerate(layer)})


def _columns(boxes: list[Box], layers: list[list[int]]) -> float:
    """Set every `x`; returns the total width."""
    x = 0.0
    for layer in layers:
        widest = max(boxes[number].width for number in layer)
        for number in layer:
            boxes[number].x = x
            if not boxes[number].width:
                boxes[number].width = widest  # a waypoint's edge runs straight through the layer
        x += widest + LAYER_GAP
    return max(x - LAYER_GAP, 0.0)


def _heights(boxes: list[Box], layers: list[list[int]]) -> float:
    """Set every `y`, near the middle of the neighbours; returns the total height."""
    for layer in layers:
        _stack(boxes, layer, [boxes[number].y for number in layer])
    for sweep in range(2 * _SWEEPS):
        forth = sweep % 2 == 0
        for layer in layers if forth else reversed(layers):
            wanted: list[float] = []
            for number in layer:
                box = boxes[number]
                near = box.before + box.after
                if sweep < 2:  # a first draft by one side alone; then both sides pull together
                    near = (box.before if forth else box.after) or near
                middles = [boxes[one].middle for one in near]
                middle = sum(middles) / len(middles) if middles else box.middle
                wanted.append(middle - box.height / 2)
            _stack(boxes, layer, wanted)
    top = min((box.y for box in boxes), default=0.0)
    for box in boxes:
        box.y -= top
    return max((box.y + box.height for box in boxes), default=0.0)


def _stack(boxes: list[Box], layer: Sequence[int], wanted: Sequence[float]) -> None:
    """Put a layer's boxes as near to their wanted place as order and gaps allow."""
    y = float("-inf")
    for number, want in zip(layer, wanted, strict=True):
        boxes[number].y = max(want, y)
        y = boxes[number].y + boxes[number].height + BOX_GAP
    off = [boxes[number].y - want for number, want in zip(layer, wanted, strict=True)]
    for number in layer:
        boxes[number].y -= sum(off) / len(off)


def _points(boxes: Sequence[Box], way: Sequence[int]) -> list[tuple[float, float]]:
    first, *between, last = (boxes[number] for number in way)
    points = [(first.x + first.width, first.middle)]
    for box in between:
        points += [(box.x, box.middle), (box.x + box.width, box.middle)]
    return [*points, (last.x, last.middle)]
