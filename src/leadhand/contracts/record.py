"""The form of all data that is checked field by field."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Data that never changes.

    Its validator is built when it is first needed: that takes longer than the import, and a program
    needs few of them.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)
