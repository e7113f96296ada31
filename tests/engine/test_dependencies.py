"""Dependencies that change while tasks run equal those of the final graph built anew."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from leadhand.contracts.task import Plan, Task
from leadhand.engine.run_tasks import Dependencies
from tests.plans.samples import plans, task


@given(plans(), st.data())
@settings(max_examples=60)
def test_after_any_change_every_task_starts_once_and_never_before_its_dependencies(
    the_plan: Plan, data: st.DataObject
) -> None:
    tasks = {one.id: one for one in the_plan.tasks}
    dependencies = Dependencies(the_plan.tasks)
    ready = set(dependencies.ready())
    ended: dict[str, bool] = {}
    number = 0
    while ready:
        if number < 4 and data.draw(st.booleans()):
            number += 1
            started, skipped = _changed(dependencies, tasks, ended, data, f"n{number}", ready)
        else:
            id = data.draw(st.sampled_from(sorted(ready)))
            ready.remove(id)
            assert {needed in ended for needed in tasks[id].depends_on} <= {True}
            ended[id] = data.draw(st.booleans())
            started, skipped = dependencies.finish(id, gave_result=ended[id])
        for id, blame in skipped:
            assert id not in ended
            assert not ended[blame]
            assert not tasks[id].tolerates_missing
            ended[id] = False
        assert not ready & set(started)
        ready |= set(started)
    assert set(ended) == set(tasks)


def _changed(
    dependencies: Dependencies,
    tasks: dict[str, Task],
    ended: dict[str, bool],
    data: st.DataObject,
    new_id: str,
    ready: set[str],
) -> tuple[list[str], list[tuple[str, str]]]:
    """Drop a task that waits, make those that need it need a new one, which needs an old one."""
    waiting = sorted(set(tasks) - set(ended))
    gone = tasks[data.draw(st.sampled_from(waiting))]
    after = [one for one in tasks.values() if gone.id in one.depends_on and one.id not in ended]
    below = _below(gone.id, tasks)
    free = sorted(set(tasks) - below - {gone.id})
    needs = data.draw(st.lists(st.sampled_from(free), unique=True, max_size=2)) if free else []
    new = task(new_id, *needs, tolerates_missing=data.draw(st.booleans()))
    changed = [
        (old, old.model_copy(update={"depends_on": _replaced(old.depends_on, gone.id, new_id)}))
        for old in after
    ]
    del tasks[gone.id]
    tasks[new_id] = new
    tasks.update({now.id: now for _, now in changed})
    ready -= {gone.id, *(old.id for old, _ in changed)}
    return dependencies.amend(added=[new], dropped=[gone], changed=changed)


def _replaced(ids: Sequence[str], old: str, new: str) -> tuple[str, ...]:
    return tuple(new if id == old else id for id in ids)


def _below(root: str, tasks: dict[str, Task]) -> set[str]:
    found: set[str] = set()
    stack = [root]
    while stack:
        top = stack.pop()
        for one in tasks.values():
            if top in one.depends_on and one.id not in found:
                found.add(one.id)
                stack.append(one.id)
    return found


def test_a_task_that_is_added_behind_a_lost_one_is_skipped_at_once_with_its_dependants() -> None:
    dependencies = Dependencies([task("a")])
    dependencies.finish("a", gave_result=False)
    added = [task("c", "b"), task("b", "a"), task("d", "b", tolerates_missing=True), task("e")]
    ready, skipped = dependencies.amend(added=added)
    assert sorted(ready) == ["d", "e"]
    assert dict(skipped) == {"b": "a", "c": "a"}
    assert len(skipped) == 2


def test_who_waits_for_a_task_follows_every_change() -> None:
    a, b, c = task("a"), task("b", "a"), task("c", "a")
    dependencies = Dependencies([a, b, c])
    assert dependencies.dependants("a") == ["b", "c"]
    free = task("b")
    ready, _ = dependencies.amend(changed=[(b, free)])
    assert (ready, dependencies.dependants("a")) == (["b"], ["c"])
    dependencies.amend(changed=[(free, b)])
    assert dependencies.dependants("a") == ["b", "c"]
    ready, _ = dependencies.finish("a", gave_result=True)
    assert ready == ["b", "c"]
