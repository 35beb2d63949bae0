"""Stand-in compiler of a backend."""
