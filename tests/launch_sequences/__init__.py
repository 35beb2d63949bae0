"""Launches with memory: programs of launches, and of changes between and during them, done by base and fork and compared.

A program is a list of steps, plain JSON. A step is an object with ``do``, the name of a method ``do_...`` of the worker's world,
and that method's arguments. The step ``launch`` has ``kernel`` (a name in ``worker/kernels.py``), ``grid`` (kind, extents, how it is
given), ``values``, ``keywords``, ``options``, ``how`` (``kernel[grid](...)``, ``run``, ``warmup``, a kept ``kernel[grid]``, another
thread), ``times``, and ``during``: pairs of a moment and a step that is done when the launch gets there. Moments are events, such as
``grid``, ``allocator``, the names of hooks and patches, and questions to foreign objects: ``data_ptr``, ``dtype``, ``eq``,
``hash``, ``index``, also with `` after the grid`` or `` after the launch`` behind them. A step ``begin`` starts a launch in another
thread that stops where a step ``pause`` is in its ``during``, and ``resume`` lets it go on: threads take turns, and each run
of a program has the same order.

A value is a pair of its kind and what it is made of; ``["stored", "t0"]`` is an object that other steps can change.

``python -m tests.launch_sequences --help`` looks for programs for which base and fork differ.
"""
