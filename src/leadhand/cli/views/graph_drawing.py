"""Draws a plan's graph beside its tasks, as `git log --graph` draws history. Pure.

Time runs downwards. A task's line continues to the last task that depends on it. Tasks with the
same dependencies and the same dependants are a group and share one line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from leadhand.contracts.task import Task
from leadhand.plans import graph

MAX_TASKS = 500
"""Larger plans are not drawn."""
MAX_LANES = 8
"""Lines side by side; a graph that needs more is not drawn."""

_JOINTS = {
    # What leads up, down, left and right of a joint.
    (True, True, False, True): "├",
    (True, True, True, False): "┤",
    (True, True, True, True): "┼",
    (True, True, False, False): "│",
    (True, False, False, True): "╰",
    (True, False, True, False): "╯",
    (True, False, True, True): "┴",
    (False, True, False, True): "╭",
    (False, True, True, False): "╮",
    (False, True, True, True): "┬",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the drawing: a joint of lines, or a task and the lines beside it."""

    head: str
    """What precedes the first line of the task's text."""
    body: str = ""
    """What precedes each further line."""
    task: Task | None = None


@dataclass(slots=True)
class _Group:
    """Tasks with the same dependencies and the same dependants."""

    tasks: list[Task]
    needs: set[int] = field(default_factory=set[int])
    users: set[int] = field(default_factory=set[int])


def draw(tasks: Sequence[Task]) -> list[Row]:
    """The rows of the drawing, one for each task; empty if it would be too large."""
    if len(tasks) > MAX_TASKS:
        return []
    drawing = _Drawing(_groups(tasks))
    rows = list(drawing.rows())
    return rows if drawing.widest <= MAX_LANES else []


def _groups(tasks: Sequence[Task]) -> list[_Group]:
    after = graph.dependants(tasks)
    by_id = {task.id: task for task in tasks}
    numbers: dict[tuple[frozenset[str], frozenset[str]], int] = {}
    groups: list[_Group] = []
    number_of: dict[str, int] = {}
    for id in graph.order(tasks):
        twins = (frozenset(by_id[id].depends_on), frozenset(after.get(id, ())))
        number = numbers.setdefault(twins, len(groups))
        if number == len(groups):
            groups.append(_Group([]))
        groups[number].tasks.append(by_id[id])
        number_of[id] = number
        for needed in by_id[id].depends_on:
            groups[number].needs.add(number_of[needed])
            groups[number_of[needed]].users.add(number)
    return groups


class _Drawing:
    """The lanes of the drawing, while groups are drawn one after the other."""

    def __init__(self, groups: Sequence[_Group]) -> None:
        self._groups = groups
        self._lanes: list[int | None] = []
        """The group whose line runs in each lane."""
        self._waiting = [set(group.users) for group in groups]
        """By group, the users that are not drawn yet."""
        self.widest = 0

    def rows(self) -> Iterator[Row]:
        """All rows, from top to bottom. Stops early if the drawing is too wide."""
        to_do = list(range(len(self._groups)))
        drawn: dict[int, int] = {}
        while to_do and self.widest <= MAX_LANES:
            ready = [number for number in to_do if self._groups[number].needs <= drawn.keys()]
            # First the group that ends most lines, to keep the drawing narrow; then one that
            # continues the group drawn last, to keep chains together; then plan order.
            latest = {
                one: max((drawn[n] for n in self._groups[one].needs), default=-1) for one in ready
            }
            number = max(ready, key=lambda one: (self._ends(one), latest[one], -one))
            yield from self._draw(number)
            to_do.remove(number)
            drawn[number] = len(drawn)

    def _ends(self, number: int) -> int:
        return sum(self._waiting[needed] == {number} for needed in self._groups[number].needs)

    def _draw(self, number: int) -> Iterator[Row]:
        group = self._groups[number]
        feeding = [lane for lane, one in enumerate(self._lanes) if one in group.needs]
        ending = [lane for lane in feeding if self._waiting[self._lanes[lane] or 0] == {number}]
        target = ending[0] if ending else self._free()
        if feeding and feeding != [target]:
            yield Row(self._joint(feeding, ending, target))
        for lane in ending:
            self._lanes[lane] = None
        for needed in group.needs:
            self._waiting[needed].discard(number)
        self._lanes[target] = number
        self._trim()
        self.widest = max(self.widest, len(self._lanes))
        yield from self._members(group, target)
        if not group.users:
            self._lanes[target] = None
            self._trim()

    def _trim(self) -> None:
        while self._lanes and self._lanes[-1] is None:
            self._lanes.pop()

    def _free(self) -> int:
        if None in self._lanes:
            return self._lanes.index(None)
        self._lanes.append(None)
        return len(self._lanes) - 1

    def _joint(self, feeding: list[int], ending: list[int], target: int) -> str:
        """The joint from the lanes that feed a group to the lane in which it continues."""
        ends = {*feeding, target}
        low, high = min(ends), max(ends)
        text = ""
        for lane, one in enumerate(self._lanes):
            inside = low <= lane <= high
            if lane in ends:
                down = lane == target or lane not in ending
                text += _JOINTS[one is not None, down, lane > low, lane < high]
            elif one is not None:
                text += "│"
            else:
                text += "─" if inside else " "
            text += "─" if low <= lane < high else " "
        return text.rstrip()

    def _members(self, group: _Group, target: int) -> Iterator[Row]:
        if len(group.tasks) == 1:
            head = self._beside(target, "●")
            yield Row(head, self._beside(target, "│" if group.users else " "), group.tasks[0])
            return
        for number, task in enumerate(group.tasks):
            first = number == 0 and not group.needs
            last = number == len(group.tasks) - 1 and not group.users
            branch = "╭" if first else "╰" if last else "├"
            below = " " if last else "│"
            beside = self._beside(target, branch, across=True)
            yield Row(f"{beside}● ", f"{self._beside(target, below)}  ", task)

    def _beside(self, target: int, mark: str, *, across: bool = False) -> str:
        """All lanes with `mark` in one of them; `across` draws a line from there to the right."""
        text = ""
        for lane, one in enumerate(self._lanes):
            text += mark if lane == target else "│" if one is not None else " "
            text += "─" if across and lane >= target else " "
        return text
