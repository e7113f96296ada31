"""What work costs, by how that grows: a slow machine is slow at both ends of the scale."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
TIMES = 64
"""How much longer the long input is. What is quadratic takes 4,096 times as long."""


def assert_linear(
    work: Callable[[T], object], input_of: Callable[[int], T], short: int = 1_000
) -> None:
    """Only another class of complexity takes eight times as long as is due, in processor time."""

    def seconds(given: T) -> float:
        start_s = time.process_time()
        work(given)
        return time.process_time() - start_s

    short_s = min(seconds(input_of(short)) for _ in range(3))
    long = input_of(TIMES * short)
    assert any(seconds(long) < 8 * TIMES * max(short_s, 0.0002) for _ in range(3))
