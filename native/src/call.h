/* One call of kernel[grid](...): which value belongs to which parameter, and its tokens. */
#ifndef TRITON_FORK_CALL_H
#define TRITON_FORK_CALL_H

#include "dispatcher.h"

/* Looks at the values of a call. Returns 0, maybe with an exception, where one has no token or the binding is not plain. */
int read_call(const Dispatcher *dispatcher, Call *call);

/* Makes the dictionary of all parameters that a grid gets which is a function. NULL with an exception set where that fails. */
PyObject *bind_values(const Dispatcher *dispatcher, PyObject *const *values);

/* Makes new references to the three extents of a grid, 1 for missing ones. Returns 0 with an exception set where that fails; those
   made before stay, and the others must have been NULL. */
int split_grid(PyObject *extents, PyObject **split);

/* The arguments and the keywords of a call as a tuple and a dictionary; NULL with an exception set where that fails. */
PyObject *arguments_of(const Call *call);
PyObject *keywords_of(const Call *call);

#endif
