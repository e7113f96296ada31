"""Typed tools with limits, which read the user's data and never write it."""
