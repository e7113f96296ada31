"""The loop that starts and stops concurrent work, and its parts. Its entry point is `scheduler`;
journals, models and people are the protocols in `ports`."""
