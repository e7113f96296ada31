"""`Many`: the type of a field that takes any sequence and keeps it as a tuple."""

from collections.abc import Sequence
from typing import Annotated, TypeVar, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema

T = TypeVar("T")


class _AsTuple:
    """Validates `Sequence[X]` as `tuple[X, ...]`."""

    @staticmethod
    def __get_pydantic_core_schema__(source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(tuple[get_args(source)[0], ...])


Many = Annotated[Sequence[T], _AsTuple]
"""Type checkers see a sequence, because users write lists; the value is a tuple, so that frozen
contracts can be hashed and never change."""
