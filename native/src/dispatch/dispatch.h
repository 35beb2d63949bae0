/* The fast path of kernel[grid](...): from the arguments to the launch without the base's lists, texts and dictionaries.

   For each kind of call that it has seen it remembers which kernel the base's caches have for it. It learns only from these caches,
   never from a launch: whatever runs while the base launches has no part in it. A call takes the fast path where its kind is known
   and nothing unusual is on; every other call goes the base's way, which decides and raises as ever. */
#ifndef TRITON_FORK_DISPATCH_H
#define TRITON_FORK_DISPATCH_H

#include "python/python_abi.h"

/* Mirrors python/triton/runtime/jit.py: KernelInterface.__getitem__, JITFunction.run */

/* The method `launch` of a launcher, see make_launcher. */
PyObject *launch_function(PyObject *self, PyObject *const *arguments, Py_ssize_t count);

#endif
