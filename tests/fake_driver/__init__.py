"""A GPU driver that launches nothing and remembers everything: Triton runs up to the launch without a GPU."""
