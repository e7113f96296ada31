"""What a call in a thread took itself, from what the system says of it."""

import pytest

from leadhand.engine.thread_time import ThreadUsage, Turns

TURN_S = 0.005


def facts(
    wall_s: float,
    cpu_s: float,
    *,
    process_cpu_s: float,
    taken: int,
    beside: float,
    queued_s: float = 0.0,
) -> ThreadUsage:
    turns = Turns(taken, queued_s)
    return ThreadUsage(wall_s, cpu_s, process_cpu_s, turns, beside)


def test_six_threads_that_share_the_interpreter_took_what_each_computed() -> None:
    shared = facts(6.0, 1.0, process_cpu_s=6.0, taken=1_200, beside=5.0)
    assert shared.worked(TURN_S) == (1.0, 1.0)


def test_what_other_programs_took_from_all_threads_slows_their_work_down() -> None:
    shared = facts(12.0, 1.0, process_cpu_s=6.0, taken=1_800, queued_s=2.5, beside=5.0)
    assert shared.worked(TURN_S) == (2.0, 3.5)


def test_threads_that_compute_without_the_interpreter_share_the_processors() -> None:
    shared = facts(3.0, 1.0, process_cpu_s=6.0, taken=500, beside=5.0)
    assert shared.worked(TURN_S) == (1.0, 1.0)


def test_a_thread_that_only_waits_for_something_of_its_own_took_all_the_time() -> None:
    alone = facts(1.0, 0.001, process_cpu_s=0.002, taken=1, beside=7.0)
    assert alone.worked(TURN_S) == pytest.approx((1.0, 1.0), rel=0.01)
    among_others = facts(1.0, 0.001, process_cpu_s=1.0, taken=2, beside=1.0)
    assert among_others.worked(TURN_S) == pytest.approx((1.0, 1.0), rel=0.02)


def test_one_that_mostly_waits_beside_one_that_computes_is_known_nearly() -> None:
    light = facts(1.0, 0.1, process_cpu_s=1.0, taken=28, beside=1.0)
    low_s, high_s = light.worked(TURN_S)
    assert low_s == pytest.approx(0.86)
    assert high_s == 1.0


def test_many_short_waits_while_others_compute_can_have_been_either() -> None:
    queries = facts(3.5, 0.05, process_cpu_s=3.4, taken=1_000, beside=1.0)
    low_s, high_s = queries.worked(TURN_S)
    assert low_s < 0.2
    assert high_s == 3.5


def test_where_the_system_does_not_tell_the_range_is_what_others_computed() -> None:
    untold = ThreadUsage(6.0, 1.0, 5.0, None, 5.0)
    assert untold.worked(TURN_S) == (2.0, 6.0)
    alone = ThreadUsage(6.0, 1.0, 1.0, None, 5.0)
    assert alone.worked(TURN_S) == (6.0, 6.0)
