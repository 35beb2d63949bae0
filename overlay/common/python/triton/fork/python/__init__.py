"""Facts about Python itself: looking at code, classes and exceptions without running anybody's code."""
