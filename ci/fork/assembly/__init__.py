"""Everything that decides the bytes of a wheel.

The digest in a version covers the sources of this package, so that a published file name never changes its bytes: change a
module here and the version changes with it.
"""
