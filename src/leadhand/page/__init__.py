"""The page: static files that show runs in a browser. They fetch everything from the service."""

from pathlib import Path

STATIC = Path(__file__).parent / "static"
"""`index.html`, and what it loads."""
