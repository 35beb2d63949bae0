/* The fast path of kernel[grid](...): from the arguments to the launch without the base's lists, texts and dictionaries.

   A dispatcher belongs to one JIT function. It remembers which kernel the base chose for which tokens. A call takes the fast path
   where its tokens are known and nothing unusual is on; every other call goes to a Python function that calls the base, which
   decides and raises as ever. */
#ifndef TRITON_FORK_DISPATCH_H
#define TRITON_FORK_DISPATCH_H

#include "python_abi.h"

/* The method of dispatchers: bind(function, grid) -> what kernel[grid] is, or None. */
PyObject *bind(PyObject *self, PyObject *const *arguments, Py_ssize_t count);

#endif
