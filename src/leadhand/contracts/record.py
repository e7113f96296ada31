"""The base of all data that is validated field by field."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Immutable, validated data.

    Validators are built on first use: that takes longer than the import, and a program needs few.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)
