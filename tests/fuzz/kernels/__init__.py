"""Kernels made by chance, compiled to the first IR by the base and by the fork, and what differs.

``choices`` to ``mistakes`` write programs, ``worker`` compiles them inside the interpreters under comparison, ``processes`` runs the
workers, ``comparison`` says what is a difference, ``search`` looks for one and shrinks it, and ``python -m tests.fuzz.kernels`` is
the command.
"""
