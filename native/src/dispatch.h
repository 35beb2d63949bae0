/* The fast path of kernel[grid](...): from the arguments to the launch without the base's lists, texts and dictionaries.

   A dispatcher belongs to one JIT function. It remembers which kernel the base chose for which tokens. A call takes the fast path
   where its tokens are known and nothing unusual is on; every other call goes to a Python function that calls the base, which
   decides and raises as ever. */
#ifndef TRITON_FORK_DISPATCH_H
#define TRITON_FORK_DISPATCH_H

#include "python_abi.h"

/* Makes the type of dispatchers. NULL with an exception set where that fails. */
PyObject *dispatcher_type(void);

/* make_dispatcher(function, slow, parameter names, constants, environment) -> Dispatcher.
   slow(function, grid, arguments, keywords) -> (kernel, recipe or None); constants: a letter for each parameter, C for tl.constexpr;
   environment: (dictionary of triton.knobs, DriverConfig, HookChain, JITFunction.run). */
PyObject *make_dispatcher(PyObject *module, PyObject *arguments);

#endif
