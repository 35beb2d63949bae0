"""From a decorated function to its source and its syntax tree."""
