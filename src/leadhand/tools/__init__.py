"""Typed, bounded tools that read and never write what belongs to a user."""
