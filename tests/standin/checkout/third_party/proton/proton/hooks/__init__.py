"""Stand-in hooks."""
