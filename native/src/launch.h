/* Launches a kernel: the counterpart of the C code that the base generates and compiles for every signature. */
#ifndef TRITON_FORK_LAUNCH_H
#define TRITON_FORK_LAUNCH_H

#include "python_abi.h"

/* launch(grid x, y, z, stream, function, cooperative, dependent launch, global scratch, profile scratch,
          (warps, blocks in a cluster, shared bytes), launch metadata, enter hook, exit hook, *kernel arguments) */
PyObject *launch(PyObject *self, PyObject *const *arguments, Py_ssize_t count);

#endif
