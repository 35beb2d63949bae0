/* What the base asks in every launch before it looks at the arguments. */
#ifndef TRITON_FORK_GUARDS_H
#define TRITON_FORK_GUARDS_H

#include "python/python_abi.h"

/* Borrows the caches of a function by device, an exact defaultdict; NULL where the object is no function with such, or where
   hooks, debugging or a `run` of its own are on. `attributes` are those of the function. */
PyObject *has_own_caches(PyObject *attributes, PyObject *type_of_caches);

/* 1 where every global variable that the kernel was made with is the same. Maybe with an exception set where the answer is 0. */
int globals_unchanged(PyObject *attributes);

/* HIP's knob for buffer operations in the group of knobs: 1 or 0; -1 where there is no such knob or it fails. */
int uses_buffer_operations(PyObject *group);

/* New references to the current device and its stream, asked of a driver as the base asks it; NULL with an exception set for what
   it did not answer. Returns whether both are plain numbers, as the fast path needs them. */
int current_stream(PyObject *driver, PyObject **device, PyObject **stream);

/* Drops an exception that looking in another way than the base does may raise by itself; the base looks again. All others stay:
   the base would meet them at the same question, or they come from elsewhere, such as a signal's handler, and come only once. */
void drop_error_of_looking(void);

#endif
