"""The tool that turns a pinned Triton and a patch queue into a wheel and an index."""
