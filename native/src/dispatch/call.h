/* One call of kernel[grid](...): which value belongs to which parameter, and its fingerprint. */
#ifndef TRITON_FORK_CALL_H
#define TRITON_FORK_CALL_H

#include "dispatch/dispatcher.h"

/* The value of each parameter. */
typedef struct {
  PyObject *values[MAX_VALUES];
  PyObject *named[MAX_VALUES]; /* those given by name are held: what an argument is asked may empty the dictionary they are from */
  int named_count;
} Binding;

/* Finds the value of each parameter; the caller holds arguments and keywords, and releases the binding. Returns 0, maybe with an
   exception set, where the binding is not plain or a value is not: no object has been asked anything then. */
int bind_call(Dispatcher *dispatcher, PyObject *arguments, PyObject *keywords, Binding *binding);

void release_binding(Binding *binding);

/* Asks the values of a call for their fingerprint, in the base's order. Returns 0, maybe with an exception set, where there is
   none. */
int read_call(const Dispatcher *dispatcher, PyObject *arguments, PyObject *keywords, PyObject *const *values,
              Fingerprint *fingerprint);

/* Makes the dictionary of all parameters that a grid gets which is a function. NULL with an exception set where that fails. */
PyObject *bound_arguments(const Dispatcher *dispatcher, PyObject *const *values);

/* Makes new references to the three extents of a grid, 1 for missing ones. Returns 0 with an exception set where that fails; those
   made before stay, and the others must have been NULL. */
int split_grid(PyObject *extents, PyObject **split);

#endif
