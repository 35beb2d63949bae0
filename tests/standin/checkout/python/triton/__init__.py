"""Stand-in for Triton: just enough to see which sources a wheel was built from."""

__version__ = '3.6.0'
