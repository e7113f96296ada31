"""Reads untrusted git repositories: their objects, never their configuration or code.

Fault F25: `process` starts git, `bare_repository` makes the only repository that it sees. Functions
that read take that repository as `git_dir`, and full object ids. They raise `InputError` if objects
are missing, otherwise `GitTimeout` or `GitFailed` (both are `ToolError`).
"""
