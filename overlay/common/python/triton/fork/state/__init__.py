"""What the fork remembers: between processes, tied to the files it was derived from, and beside Triton's own objects."""
