"""Whether the scorer of plans is right on gold graphs of others, and what is wrong in those.

    python -m benchmarks.gold_plans [--workloads DIR] [--problems]

Without a model: each graph of `gold_plan_graphs.jsonl` and `natural_language_plans.jsonl`
is compared with itself, with a copy whose tasks are in another order under other ids, with one that
lacks a task, with one that lacks a dependency, and with a chain of its tasks. A record that is
malformed is named with what is wrong, and left out.
"""

import argparse
import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, cast

from leadhand.evals.cases import GoldTask
from leadhand.evals.planning import compared, depth, direct_edges
from leadhand.plans.graph import cycle

_FORM = re.compile(r"Node:\n(?P<nodes>.*?)\n?Edge:(?P<edges>.*)", re.DOTALL)
_NODE = re.compile(r"(\d+)\s*:\s*(.+)")
_EDGE = re.compile(r"\(\s*(\w+)\s*,\s*(\w+)\s*\)")
_ENDS = {"START", "END"}


class Graph(NamedTuple):
    """A gold graph, and what is wrong with its record."""

    name: str
    tasks: tuple[GoldTask, ...]
    problems: tuple[str, ...]


def parsed(text: str, name: str) -> Graph:
    """The graph in WorfBench's form: `Node:` lines, then `Edge: (START,1) (1,2) (2,END)`."""
    form = _FORM.fullmatch(text.strip())
    if form is None:
        return Graph(name, (), ("it has no list of nodes followed by edges",))
    problems: list[str] = []
    nodes: dict[str, str] = {}
    for line in filter(str.strip, form["nodes"].splitlines()):
        node = _NODE.fullmatch(line.strip())
        if node is None:
            problems.append("a line among the nodes is no node")
        elif node[1] in nodes:
            problems.append("two nodes have the same number")
        else:
            nodes[node[1]] = node[2].strip()
    edges = _EDGE.findall(form["edges"])
    if _EDGE.sub("", form["edges"]).strip(" ,\n"):
        problems.append("there is text among the edges")
    if any(end not in nodes and end not in _ENDS for edge in edges for end in edge):
        problems.append("an edge names a node that is not there")
    return _graph(name, nodes, [edge for edge in edges if not _ENDS & {*edge}], problems)


def _graph(
    name: str, nodes: dict[str, str], edges: Sequence[tuple[str, str]], problems: list[str]
) -> Graph:
    known = [(a, b) for a, b in edges if a in nodes and b in nodes]
    needs = {id: sorted({a for a, b in known if b == id}) for id in nodes}
    if any(a == b for a, b in known) or cycle(needs):
        problems.append("its edges form a cycle")
    if not nodes:
        problems.append("it has no nodes")
    tasks = [GoldTask(id=id, intent=text, depends_on=needs[id]) for id, text in nodes.items()]
    return Graph(name, tuple(tasks), tuple(dict.fromkeys(problems)))


def graphs(workloads: Path) -> Iterator[tuple[str, Graph]]:
    """Each graph, after the name of its file."""
    file = workloads / "gold_plan_graphs.jsonl"
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        row = json.loads(line)
        yield file.name, parsed(row["gold"], f"line {number} ({row['source']})")
    file = workloads / "natural_language_plans.jsonl"
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        row = json.loads(line)
        nodes = {step["id"]: step["text"] for step in row["steps"]}
        edges = [cast("tuple[str, str]", tuple(edge)) for edge in row["edges"]]
        unknown = any(end not in nodes for edge in edges for end in edge)
        problems = ["an edge names a step that is not there"] if unknown else []
        yield file.name, _graph(f"line {number}", nodes, edges, problems)


def renamed(tasks: Sequence[GoldTask], chance: random.Random) -> list[GoldTask]:
    """The same graph in another order, under other ids."""
    ids = {task.id: f"t{place}" for place, task in enumerate(tasks, start=1)}
    copies = [
        GoldTask(
            id=ids[task.id], intent=task.intent, depends_on=[ids[one] for one in task.depends_on]
        )
        for task in tasks
    ]
    chance.shuffle(copies)
    return copies


def without_last(tasks: Sequence[GoldTask]) -> list[GoldTask]:
    """The graph without its last task."""
    gone = tasks[-1].id
    kept = [one for one in tasks if one.id != gone]
    return [
        one.model_copy(update={"depends_on": tuple(id for id in one.depends_on if id != gone)})
        for one in kept
    ]


def without_edge(tasks: Sequence[GoldTask]) -> list[GoldTask]:
    """The graph without one of its direct dependencies."""
    before, after = min(direct_edges(tasks))
    return [
        one.model_copy(update={"depends_on": tuple(id for id in one.depends_on if id != before)})
        if one.id == after
        else one
        for one in tasks
    ]


def chain(tasks: Sequence[GoldTask]) -> list[GoldTask]:
    """The tasks one after the other."""
    return [
        one.model_copy(update={"depends_on": (tasks[place - 1].id,) if place else ()})
        for place, one in enumerate(tasks)
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = Path(os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads"))
    parser.add_argument("--workloads", type=Path, default=default)
    parser.add_argument("--problems", action="store_true", help="name each malformed record")
    options = parser.parse_args()
    if not (options.workloads / "gold_plan_graphs.jsonl").exists():
        raise SystemExit(f"no gold_plan_graphs.jsonl in {options.workloads}: name its folder")
    found = [*graphs(options.workloads)]
    chance = random.Random(0)
    for name in dict.fromkeys(name for name, _ in found):
        mine = [graph for file, graph in found if file == name]
        sound = [graph.tasks for graph in mine if not graph.problems]
        wrong = Counter(problem for graph in mine for problem in graph.problems)
        print(f"{name}: {len(mine)} graphs, {len(mine) - len(sound)} malformed")
        for problem, count in wrong.most_common():
            print(f"  {count:>4}  {problem}")
        if options.problems:
            for graph in mine:
                if graph.problems:
                    print(f"  {graph.name}: {'; '.join(graph.problems)}")
        several = [tasks for tasks in sound if len(tasks) > 1]
        linked = [tasks for tasks in sound if direct_edges(tasks)]
        rows = {
            "itself": [compared(tasks, tasks) for tasks in sound],
            "other order and ids": [compared(tasks, renamed(tasks, chance)) for tasks in sound],
            "without the last task": [compared(tasks, without_last(tasks)) for tasks in several],
            "without a dependency": [compared(tasks, without_edge(tasks)) for tasks in linked],
            "as a chain": [compared(tasks, chain(tasks)) for tasks in sound],
        }
        print(f"  {'compared with':<24}{'tasks F1':>9}{'edges F1':>9}{'least':>14}")
        for what, matches in rows.items():
            nodes, edges = [one.nodes for one in matches], [one.edges for one in matches]
            least = f"{min(nodes):.2f} {min(edges):.2f}"
            print(f"  {what:<24}{fmean(nodes):>9.3f}{fmean(edges):>9.3f}{least:>14}")
        shorter = fmean(depth(tasks) / len(tasks) for tasks in sound)
        print(f"  longest chain: {shorter:.1%} of the tasks\n")


if __name__ == "__main__":
    main()
