/* Launches the kernel of an entry: what is left to do when a call is known. */
#ifndef TRITON_FORK_ENTRY_LAUNCH_H
#define TRITON_FORK_ENTRY_LAUNCH_H

#include "dispatcher.h"

/* Calls the grid if it is a function, asks for scratch memory, expands descriptors and launches, in the base's order. The result is
   a new reference to the kernel, or NULL with an exception set. */
PyObject *launch_entry(const Dispatcher *dispatcher, const Entry *entry, const Call *call, PyObject *grid, PyObject *stream);

#endif
