"""Reads untrusted unified diffs of any size as files with their texts."""

from leadhand.tools.patch.texts import open_patch, read_patch

__all__ = ["open_patch", "read_patch"]
