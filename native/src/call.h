/* One call of kernel[grid](...): which value belongs to which parameter, and its tokens. */
#ifndef TRITON_FORK_CALL_H
#define TRITON_FORK_CALL_H

#include "dispatcher.h"

/* Looks at the values of a call. Returns 0, without an exception, where one has no token or the binding is not plain. */
int read_call(const Dispatcher *dispatcher, Call *call);

/* Runs a grid that is a function: it gets the values of all parameters by name. */
PyObject *call_grid(const Dispatcher *dispatcher, PyObject *grid, PyObject *const *values);

/* Reads the extents of a grid, 1 for missing ones. Returns 0 with an exception set where they are none. */
int read_grid(PyObject *extents, Settings *settings);

/* The arguments and the keywords of a call as a tuple and a dictionary; NULL with an exception set where that fails. */
PyObject *arguments_of(const Call *call);
PyObject *keywords_of(const Call *call);

#endif
