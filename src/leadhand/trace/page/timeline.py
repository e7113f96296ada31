"""The timeline: planning, a bar per attempt, a thin line per wait, synthesis."""

from collections.abc import Iterator
from dataclasses import dataclass

from leadhand.trace.formatting import format_duration
from leadhand.trace.page.markup import Html, anchor, joined, tag
from leadhand.trace.run_history import RunHistory

MAX_ROWS = 400
"""Of more rows, the longest are shown."""
_HEIGHT = 18


@dataclass(frozen=True, slots=True)
class _Bar:
    start_s: float
    end_s: float
    kind: str
    said: str


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    depth: int
    bars: tuple[_Bar, ...]
    href: str | None = None
    critical: bool = False

    @property
    def busy_s(self) -> float:
        return sum(bar.end_s - bar.start_s for bar in self.bars)


def timeline(history: RunHistory) -> Html:
    end_s = max(history.metrics.makespan_s, history.last_s, 1e-6)
    rows = list(_run_rows(history, end_s))
    left_out = len(rows) - MAX_ROWS
    if left_out > 0:
        kept = set(sorted(range(len(rows)), key=lambda at: -rows[at].busy_s)[:MAX_ROWS])
        rows = [row for at, row in enumerate(rows) if at in kept]
    table = tag(
        "table",
        tag("thead", tag("tr", tag("th", "task", scope="col"), tag("td", _axis(end_s)))),
        tag("tbody", *(_row(row, end_s) for row in rows)),
        class_="timeline",
    )
    more = f"{left_out:,} rows of tasks that took less time are left out."
    return joined(table, tag("p", more, class_="quiet") if left_out > 0 else Html())


def _run_rows(history: RunHistory, end_s: float) -> Iterator[_Row]:
    state = history.state
    if state.planned_s > 0:
        bars = (
            _Bar(0.0, state.planned_s, "plan", f"planning: {format_duration(state.planned_s)}"),
        )
        yield _Row("planning", 0, bars)
    yield from _task_rows(history, end_s, "", 0)
    for asked in history.questions:
        until_s = asked.answered_s if asked.answered_s is not None else end_s
        said = f"{asked.question}: {asked.verdict or 'not answered yet'}"
        bars = (_Bar(asked.at_s, until_s, "person", said),)
        yield _Row(f"person: {asked.task_id or 'the plan'}", 0, bars)
    if state.synthesis_started_s is not None:
        until_s = state.finished_s if state.finished_s is not None else end_s
        said = f"synthesis: {format_duration(until_s - state.synthesis_started_s)}"
        yield _Row("synthesis", 0, (_Bar(state.synthesis_started_s, until_s, "plan", said),))


def _task_rows(history: RunHistory, end_s: float, path: str, depth: int) -> Iterator[_Row]:
    critical = set(history.critical_path)
    for task in history.ordered_tasks():
        id = task.id
        if not task.attempts:
            continue
        bars = [*_waits(history, id)]
        for attempt in task.attempts:
            until_s = attempt.ended_s if attempt.ended_s is not None else end_s
            took = format_duration(until_s - attempt.started_s)
            said = f"attempt {attempt.number}, {attempt.worker}: {attempt.end}, {took}"
            bars.append(_Bar(attempt.started_s, until_s, attempt.end, said))
        deeper = 1 if task.part_of is not None else 0
        href = f"#{anchor(path + id)}"
        yield _Row(id, depth + deeper, tuple(bars), href, not path and id in critical)
        for attempt in task.attempts:
            if attempt.nested is not None:
                yield from _task_rows(attempt.nested, end_s, f"{path}{id}/", depth + 1)


def _waits(history: RunHistory, id: str) -> Iterator[_Bar]:
    """The waits from when a task could start, and between its attempts."""
    task, facts = history.tasks[id], history.task_state(id)
    needed = [
        history.task_state(one).finished_s for one in facts.task.depends_on if one in history.tasks
    ]
    whole = history.last_attempt(task.part_of) if task.part_of is not None else None
    needed += [whole.ended_s] if whole is not None else []
    since_s = max((at for at in needed if at is not None), default=history.state.planned_s)
    for attempt in task.attempts:
        if attempt.started_s > since_s:
            said = f"waited {format_duration(attempt.started_s - since_s)}"
            yield _Bar(since_s, attempt.started_s, "wait", said)
        since_s = attempt.ended_s if attempt.ended_s is not None else attempt.started_s


def _row(row: _Row, end_s: float) -> Html:
    name = tag("a", row.name, href=row.href) if row.href is not None else joined(row.name)
    bars = tag(
        "svg",
        *(_bar(bar, end_s) for bar in row.bars),
        width="100%",
        height=_HEIGHT,
        role="img",
        aria_label="; ".join(bar.said for bar in row.bars if bar.kind != "wait"),
    )
    kind = f"depth{min(row.depth, 4)}{' critical' if row.critical else ''}"
    return tag("tr", tag("th", name, scope="row", class_=kind), tag("td", bars))


def _bar(bar: _Bar, end_s: float) -> Html:
    thin = bar.kind == "wait"
    return tag(
        "rect",
        tag("title", bar.said),
        x=f"{100 * bar.start_s / end_s:.3f}%",
        width=f"{max(100 * (bar.end_s - bar.start_s) / end_s, 0.2):.3f}%",
        y=8 if thin else 3,
        height=2 if thin else 12,
        rx=0 if thin else 2,
        class_=f"bar {bar.kind}",
    )


def _axis(end_s: float) -> Html:
    marks: list[Html] = []
    for quarter in range(5):
        place = "start" if quarter == 0 else "end" if quarter == 4 else "middle"
        at_s = end_s * quarter / 4
        marks.append(
            tag("text", format_duration(at_s), x=f"{25 * quarter}%", y=13, text_anchor=place)
        )
    return tag("svg", *marks, width="100%", height=_HEIGHT, class_="axis", aria_hidden="true")
