"""What patched files of Triton use of the fork: one module for each import, so that each file has one line to carry over."""
