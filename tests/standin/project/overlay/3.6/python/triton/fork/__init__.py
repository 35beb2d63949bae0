"""Stand-in overlay."""
