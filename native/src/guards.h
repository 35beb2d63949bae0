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

/* Looking at all this may run Python code of others. Where a call is not plain the answer is 0, maybe with an exception set:
   set_aside decides what becomes of that. */

/* 1 where no hook, debugging or instrumentation is on, JITFunction.run is the original and no global variable has changed. */
int guards_hold(const Guards *guards);

/* 1 where no launch hook is on. */
int no_launch_hooks(const Guards *guards);

/* HIP's knob for buffer operations: 1 or 0; -1 where there is no such knob or it fails. */
int uses_buffer_operations(const Guards *guards);

/* New references to the current device and its stream, asked of the active driver; NULL for both where there is no plain answer. */
int current_stream(const Guards *guards, PyObject **device, PyObject **stream);

/* Whether the base would still find the kernel in the function's cache. */
int still_cached(const Guards *guards, PyObject *device, PyObject *key, PyObject *kernel);

/* An exception that is kept for later. */
typedef struct {
  PyObject *type, *value, *traceback;
} Raised;

/* To be called after a look at a call, with or without an exception set. The base meets what the call itself gives rise to and
   raises it in its turn, and our way of looking has failures of its own that mean nothing. What comes from elsewhere, such as a
   signal's handler, comes only once. Returns 0, the exception still set, where the call is to end with it. */
int set_aside(Raised *raised);

/* Ends a call with what was set aside, unless it has failed: the result, or NULL with an exception set. */
PyObject *raise_late(Raised *raised, PyObject *result);

#endif
