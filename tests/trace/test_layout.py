"""Graphs laid out: nothing overlaps, every line goes from left to right."""

from itertools import combinations

from hypothesis import given, settings

from leadhand.contracts.task import Plan
from leadhand.trace.page.layout import layout
from tests.plans.samples import plans


@given(plans())
@settings(max_examples=60)
def test_boxes_do_not_overlap_and_lines_go_right(a_plan: Plan) -> None:
    number = {task.id: place for place, task in enumerate(a_plan.tasks)}
    edges = [(number[one], number[task.id]) for task in a_plan.tasks for one in task.depends_on]
    sizes = [(100.0 + 10 * (place % 3), 20.0 + 30 * (place % 2)) for place in number.values()]
    placed = layout(sizes, edges)
    for one, other in combinations(placed.boxes, 2):
        beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        apart = one.y + one.height <= other.y or other.y + other.height <= one.y
        assert beside or apart
    assert set(placed.edges) == set(edges)
    for (start, end), points in placed.edges.items():
        assert placed.boxes[start].x < placed.boxes[end].x
        across = [x for x, _ in points]
        assert across == sorted(across)
    assert all(-1e-6 <= box.y <= placed.height - box.height + 1e-6 for box in placed.boxes)
    assert all(0 <= box.x <= placed.width - box.width + 1e-6 for box in placed.boxes)


def test_nothing_is_laid_out_as_nothing() -> None:
    placed = layout([], [])
    assert (placed.width, placed.height, list(placed.boxes)) == (0.0, 0.0, [])
