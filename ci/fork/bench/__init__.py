"""Benchmarks: the fork against its unpatched base, in alternating runs of fresh processes."""
