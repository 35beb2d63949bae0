"""Everything that decides the bytes of a wheel.

The digest in a version covers the sources of this package, and what else :data:`fork.assembly.version.DECIDING` names, so that a
published file name never changes its bytes: change a module there and the version changes with it.
"""
