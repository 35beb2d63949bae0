"""What the fork does differently between a function's source and its first IR.

Each module holds one idea, is called from a hook in ``compiler/code_generator.py``, ``language/`` or ``runtime/jit.py``, and has
its own switch in :mod:`triton.fork.settings`.  The IR that comes out is the base's.
"""
