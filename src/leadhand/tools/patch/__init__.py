"""Reads untrusted unified diffs of any size as files with their texts."""

from leadhand.tools.patch.texts import UnreadFile, open_patch, read_patch

__all__ = ["UnreadFile", "open_patch", "read_patch"]
