"""The engine: the one loop that starts and stops concurrent work, and its parts.

It depends on the protocols in `ports` only. Its entry point is `scheduler`.
"""
