"""Between ``import triton`` and the first kernel: modules, backends and the answers of tools, when they are first needed."""
