/* What a dispatcher remembers of one specialisation: the fingerprint that leads to it and how to launch its kernel. */
#ifndef TRITON_FORK_ENTRY_H
#define TRITON_FORK_ENTRY_H

#include "dispatch/fingerprint.h"
#include "dispatch/guarded.h"
#include "launch/launch.h"

typedef struct {
  PyObject *keepalive; /* a tuple of all that the words point to */
  PyObject *kernel, *launch, *key;
  PyObject *caches;    /* what the function has for the device: kernels by key first, the binder last */
  PyObject *expanders; /* for each parameter: None, or a function that gives what the kernel gets for a descriptor */
  PyObject *scratch;   /* None, or (triton.runtime._allocation, bytes for each block of the grid, alignment) */
  Guarded guarded;     /* what the base would read in a launch */
  const Program *program; /* of `launch` */
  Settings settings;
  int holders; /* the dispatcher, and calls under way: Python code that runs in them may make the dispatcher forget it */
  int word_count;
  uint64_t words[];
} Entry;

/* Makes an entry for a fingerprint from a specification, a dictionary with the names of what an entry has: "kernel", "launcher" (the
   self of its launch), "key", "caches", "keepalive", "guarded", "expanders", "scratch", "function" (its handle), "cooperative",
   "dependent", "warps", "cluster" (blocks in one) and "shared" (bytes). NULL with an exception set where that fails. */
Entry *make_entry(const Fingerprint *fingerprint, int parameter_count, PyObject *specification);

/* Whether the base would find the kernel in the function's caches. Maybe with an exception set where it would not. */
int is_cached(const Entry *entry, PyObject *caches);

/* For the garbage collector. */
int visit_entry(const Entry *entry, visitproc visit, void *argument);

/* Gives up a hold; the last one frees the entry. */
void release_entry(Entry *entry);

#endif
