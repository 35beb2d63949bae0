/* Launches the kernel of an entry: what is left to do when a call is known. */
#ifndef TRITON_FORK_ENTRY_LAUNCH_H
#define TRITON_FORK_ENTRY_LAUNCH_H

#include "dispatch/call.h"

/* What is too large for the stack: a grid or an argument may launch its own kernel again and again. */
typedef struct {
  Binding bound;
  Fingerprint fingerprint;
  Arguments arguments;
  Packer packer;
} Workspace;

/* A call whose kernel is known. The caller holds all of it. */
typedef struct {
  PyObject *grid, *stream;
  Dispatcher *dispatcher;
  Entry *entry;
  Workspace *space;
} KnownCall;

/* What of the environment the base reads after the grid was called, and the function that launches as the base does from there on.
   `differs` becomes 1 where the environment is not as guarded. */
typedef struct {
  const Guarded *environment;
  int first, differs;
  PyObject *finish;
} AfterGrid;

/* Calls the grid if it is a function, asks for scratch memory, expands descriptors and launches, in the base's order. The result is
   a new reference to the kernel, or NULL with an exception set. */
PyObject *launch_entry(KnownCall *call, AfterGrid *after);

#endif
