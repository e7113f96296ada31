"""Planners: they write plans and do none of the work."""
