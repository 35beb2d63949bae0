/* What the driver said for a call that the base has to launch after all. The base's run() is what comes next in the thread, and takes
   it instead of asking again: a driver may hand out streams in turn. */
#ifndef TRITON_FORK_ANSWERS_H
#define TRITON_FORK_ANSWERS_H

#include "python/python_abi.h"

void keep_answers(PyObject *function, PyObject *grid, PyObject *device, PyObject *stream);

void forget_answers(void);

/* The method `answers` of a launcher, see make_launcher. */
PyObject *take_answers(PyObject *self, PyObject *const *arguments, Py_ssize_t count);

#endif
