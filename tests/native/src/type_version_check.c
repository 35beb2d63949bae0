/* Where the number of a class lies, which only the whole of Python.h tells. */
#include <Python.h>
#define TRITON_FORK_CHECK_PYTHON_ABI
#include "python/python_abi.h"

_Static_assert(offsetof(PyTypeObject, tp_version_tag) == TYPE_VERSION_OFFSET, "tp_version_tag");
