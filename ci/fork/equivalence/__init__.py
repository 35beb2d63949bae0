"""Compile the same kernels with two Tritons and compare everything that comes out.

The modules come in two kinds. :mod:`.cases`, :mod:`.corpus`, :mod:`.normalise`, :mod:`.variants` and :mod:`.worker` run inside the
interpreters under comparison: they use nothing but the standard library (CPython 3.10 and newer) and the Triton found there. The
others run in the tool. This file imports nothing, so that the first kind can be imported without the packages of the second.
"""
