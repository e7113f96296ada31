"""What models see of the runs that a request follows: bounded, and as data."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from leadhand.contracts.task import EarlierResult, EarlierRun, earlier_results
from leadhand.engine.handoffs import beginning
from leadhand.models.prompts import joined, prompt
from leadhand.untrusted.cutting import cut_line
from leadhand.untrusted.fence import Fence

MAX_LISTED = 30
"""Results of one run that a planner sees; it can name only these."""
MAX_REQUEST_CHARS = 1_000
MAX_LINE_CHARS = 200
MAX_OLDER_CHARS = 300
"""Of the requests and answers before the latest run."""


def rules(after: Sequence[EarlierRun]) -> str:
    """What a planner is told to do with earlier runs; empty if there are none."""
    return prompt("leadhand.planners", "earlier_runs") if after else ""


def shown(after: Sequence[EarlierRun], fence: Fence) -> str:
    """Earlier requests, answers and results, for a planner: the latest with digests, others
    short."""
    if not after:
        return ""
    return joined(fence.explanation, fence.around(listing(after), source="earlier runs"))


def listing(after: Sequence[EarlierRun]) -> str:
    listed = _listed(after)
    return "\n\n".join(_run(run, depth, listed) for depth, run in enumerate(after, start=1))


def requests(after: Sequence[EarlierRun], fence: Fence) -> str:
    """The earlier requests, the first one first, for roles that see results; empty if none."""
    if not after:
        return ""
    lines = [f"- {cut_line(run.request, MAX_OLDER_CHARS)}" for run in reversed(after)]
    text = fence.around("\n".join(lines), source="earlier requests")
    return joined("It follows these requests, which were answered before:", text)


def artifacts_field(after: Sequence[EarlierRun]) -> dict[str, JsonValue]:
    """Empty without earlier results."""
    if not after:
        return {}
    names: list[JsonValue] = [*_listed(after)]
    return {"artifacts": {"type": "array", "items": {"type": "string", "enum": names}}}


def _listed(after: Sequence[EarlierRun]) -> Mapping[str, EarlierResult | EarlierRun]:
    bounded = [run.model_copy(update={"results": run.results[:MAX_LISTED]}) for run in after]
    return earlier_results(bounded)


def _run(run: EarlierRun, depth: int, listed: Mapping[str, EarlierResult | EarlierRun]) -> str:
    name = "/".join(["previous"] * depth)
    latest = depth == 1
    chars = (MAX_REQUEST_CHARS, None) if latest else (MAX_OLDER_CHARS, MAX_OLDER_CHARS)
    answer = beginning(run.answer) if chars[1] is None else cut_line(run.answer, chars[1])
    lines = [
        f"Request: {cut_line(run.request, chars[0])}",
        f"[{name}] The answer ({run.status}, team {run.team}): {answer}",
        *(
            _result(f"{name}/{one.task_id}", one, listed, latest=latest)
            for one in run.results[:MAX_LISTED]
        ),
    ]
    more = len(run.results) - MAX_LISTED + run.left_out
    return "\n".join([*lines, *([f"and {more:,} more tasks"] if more > 0 else [])])


def _result(
    name: str, one: EarlierResult, listed: Mapping[str, EarlierResult | EarlierRun], *, latest: bool
) -> str:
    line = f"{one.worker}: {cut_line(one.intent, MAX_LINE_CHARS // 2)}"
    if one.status != "completed":
        line += f" ({one.status}: {cut_line(one.why or '', MAX_LINE_CHARS)})"
    found = one.summary or one.excerpt
    if latest and found:
        line += f" -> {cut_line(found, MAX_LINE_CHARS)}"
    return f"[{name}] {line}" if listed.get(name) == one else f"- {line}"
