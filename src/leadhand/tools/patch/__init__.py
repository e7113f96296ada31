"""Unified diffs from anyone, of any size, as files with their texts."""

from leadhand.tools.patch.texts import Unread, read_patch

__all__ = ["Unread", "read_patch"]
