"""Stand-in profiler."""
