/* Calls of methods without arguments, which a launch does for most of its time. */
#ifndef TRITON_FORK_METHOD_H
#define TRITON_FORK_METHOD_H

#include "python/python_abi.h"

/* Looks for the interpreter's quickest way: it is in the limited API from 3.12 on, and in the interpreters before. */
void find_call_method(void);

/* A new reference to object.name(); NULL with an exception set where that fails. */
PyObject *call_method(PyObject *object, PyObject *name);

#endif
