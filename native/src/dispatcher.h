/* What the fast path knows of one JIT function: a Python object that the function owns. */
#ifndef TRITON_FORK_DISPATCHER_H
#define TRITON_FORK_DISPATCHER_H

#include "entry.h"
#include "guards.h"
#include "token.h"

#define MAX_ENTRIES 64
/* So many calls in a row that had to go the base's way show that the fast path is of no use to the function. */
#define MAX_SLOW_IN_A_ROW 32

typedef struct {
  PyObject base;
  Guards guards;
  PyObject *slow;
  PyObject *finish;
  PyObject *parameters;
  int parameter_count;
  char constant[MAX_VALUES];
  KnownTypes known;
  Entry *entries[MAX_ENTRIES];
  int entry_count;
  int slow_in_a_row;
} Dispatcher;

/* Makes the type of dispatchers. NULL with an exception set where that fails. */
PyObject *dispatcher_type(void);

/* make_dispatcher(function, slow, finish, parameter names, constants, environment) -> Dispatcher.
   slow(function, grid, arguments, keywords) -> (kernel, lesson or None), see remember; finish(kernel, extents of the grid, stream,
   values) -> kernel, for a launch that turns out to be unusual when its grid was called; constants: a letter for each parameter, C
   for tl.constexpr; environment: (dictionary of triton.knobs, DriverConfig, HookChain, JITFunction.run). */
PyObject *make_dispatcher(PyObject *module, PyObject *arguments);

#endif
