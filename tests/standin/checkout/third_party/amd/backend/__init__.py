"""Stand-in backend."""
