"""The engine: the one loop that starts and stops concurrent work, and its parts.

It knows journals, models and people only as the protocols in `ports`. Its entry point is
`scheduler`.
"""
