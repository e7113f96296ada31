"""Calls of many threads that are made together, because each takes a round trip."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

A = TypeVar("A")
R = TypeVar("R")


class Combined(Generic[A, R]):
    """A function of one argument, for any thread, made of one that takes many.

    Calls that come while one is under way wait, and are then made as one; if that raises, so do
    they.
    """

    def __init__(self, function: Callable[[Sequence[A]], Sequence[R]]) -> None:
        self._function = function
        self._turn = threading.Lock()
        self._waiting = deque[tuple[A, Future[R]]]()

    def __call__(self, argument: A) -> R:
        future = Future[R]()
        self._waiting.append((argument, future))
        with self._turn:
            if not future.done():
                self._call([self._waiting.popleft() for _ in range(len(self._waiting))])
        return future.result()

    def _call(self, calls: Sequence[tuple[A, Future[R]]]) -> None:
        try:
            results = self._function([argument for argument, _ in calls])
        except BaseException as error:
            for _, future in calls:
                future.set_exception(error)
        else:
            for (_, future), result in zip(calls, results, strict=True):
                future.set_result(result)
