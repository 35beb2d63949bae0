"""Tests of what a process does until its first launch."""
