/* What must be as usual for the fast path, looked at in every call. */
#ifndef TRITON_FORK_GUARDS_H
#define TRITON_FORK_GUARDS_H

#include "python_abi.h"

typedef struct {
  PyObject *function;
  PyObject *attributes; /* the dictionary of the function */
  PyObject *knobs;      /* the dictionary of the module */
  PyObject *driver;     /* triton.runtime.driver.driver */
  PyObject *hook_chain; /* the type of launch hooks that may be empty */
  PyObject *run;        /* JITFunction.run as it came */
} Guards;

/* 1 where no hook, debugging or instrumentation is on, JITFunction.run is the original and no global variable has changed; 0
   otherwise. Leaves no exception. */
int guards_hold(const Guards *guards);

/* 1 where no launch hook is on, 0 otherwise. Leaves no exception. */
int no_launch_hooks(const Guards *guards);

/* New references to the current device and its stream, asked of the active driver. 0, without an exception and with NULL for both,
   where there is no plain answer. */
int current_stream(const Guards *guards, PyObject **device, PyObject **stream);

/* Whether the base would still find the kernel in the function's cache. */
int still_cached(const Guards *guards, PyObject *device, PyObject *key, PyObject *kernel);

#endif
