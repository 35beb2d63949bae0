"""Stand-in driver of a backend."""
