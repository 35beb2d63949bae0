"""The patch queue: reading it, applying it to a tree, editing it as commits, carrying it to another upstream."""
