"""What the benchmark programs share. Runs in the environments under measurement, on CPython 3.10 and later."""
