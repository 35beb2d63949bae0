/* Variables of functions around a kernel, which may be bound anew. */
#ifndef TRITON_FORK_CELLS_H
#define TRITON_FORK_CELLS_H

#include "python/python_abi.h"

/* 1 where the closure cells that the key of a function was made of hold what they held when they were looked at last; 0 where the
   base's way has to look at them, maybe with an exception set.

   attributes: the dictionary of the function. */
int cells_unchanged(PyObject *attributes);

#endif
